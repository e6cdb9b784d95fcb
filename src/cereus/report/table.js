"use strict";
// A table that sorts by a column and shows the rows that have a text. Used by reports and by the
// playground. `choose` is called with a row and its number when the row is clicked.
function sortableTable({ table, filter, shown, rows, choose }) {
  const body = table.tBodies[0];
  let order = null, down = false;
  const text = (value) => (value === null ? "" : String(value));
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : text(a).localeCompare(text(b));
  const line = (row) => {
    const made = document.createElement("tr");
    for (const cell of row) {
      const place = document.createElement("td");
      place.textContent = text(cell);
      if (typeof cell === "number") place.className = "number";
      made.append(place);
    }
    if (choose) choose(made, row);
    return made;
  };
  const draw = () => {
    const wanted = filter.value.toLowerCase();
    let kept = rows.filter((row) => row.some((cell) => text(cell).toLowerCase().includes(wanted)));
    if (order !== null) kept = [...kept].sort((a, b) => compare(a[order], b[order]) * (down ? -1 : 1));
    body.replaceChildren(...kept.map(line));
    shown.textContent = `${kept.length} of ${rows.length} rows`;
  };
  table.tHead.querySelectorAll("th").forEach((head, place) => {
    if (rows.some((row) => typeof row[place] === "number")) head.classList.add("number");
    const button = head.querySelector("button");
    if (!button) return;
    button.onclick = () => {
      down = order === place && !down;
      order = place;
      table.tHead.querySelectorAll("th").forEach((other, at) =>
        other.setAttribute("aria-sort", at !== place ? "none" : down ? "descending" : "ascending"));
      draw();
    };
  });
  filter.oninput = draw;
  draw();
}
