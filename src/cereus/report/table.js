"use strict";
// A table that sorts by a column and shows the rows that have a text. Used by reports and by the
// playground. Columns are those whose heads have a part of the class `sorts`; `choose` may add others to a line, in
// front of them.
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
  const heads = table.tHead.querySelectorAll("th:has(.sorts)");
  heads.forEach((head, place) => {
    if (rows.some((row) => typeof row[place] === "number")) head.classList.add("number");
    const part = head.querySelector(".sorts");
    part.onkeydown = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      part.click();
    };
    part.onclick = () => {
      down = order === place && !down;
      order = place;
      heads.forEach((other, at) =>
        other.setAttribute("aria-sort", at !== place ? "none" : down ? "descending" : "ascending"));
      draw();
    };
  });
  filter.oninput = draw;
  draw();
}
