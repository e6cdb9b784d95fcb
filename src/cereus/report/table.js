"use strict";
// A table that sorts by a column and shows the rows that have a text. Used by reports and by the
// playground. Columns are those whose heads have a part of the class `sorts`; `choose` may add others to a line, in
// front of them. `ranks` has, for each column, what each row is sorted by, or null: then it is the text.
function sortableTable({ table, filter, shown, rows, ranks, choose }) {
  const body = table.tBodies[0];
  let order = null, down = false;
  const text = (value) => (value === null ? "" : String(value));
  const compare = (a, b) => {
    const by = ranks[order];
    return by ? by[a] - by[b] : text(rows[a][order]).localeCompare(text(rows[b][order]));
  };
  const isNumber = (cell) => cell === null || /^(-?(\d+(\.\d+)?(e[+-]?\d+)?|inf)|nan)$/i.test(String(cell));
  const numeric = ranks.map((by, place) => by !== null && rows.every((row) => isNumber(row[place])));
  const line = (row) => {
    const made = document.createElement("tr");
    for (const [at, cell] of row.entries()) {
      const place = document.createElement("td");
      place.textContent = text(cell);
      if (numeric[at]) place.className = "number";
      made.append(place);
    }
    if (choose) choose(made, row);
    return made;
  };
  const draw = () => {
    const wanted = filter.value.toLowerCase();
    const kept = [...rows.keys()].filter((at) => rows[at].some((cell) => text(cell).toLowerCase().includes(wanted)));
    if (order !== null) kept.sort((a, b) => compare(a, b) * (down ? -1 : 1));
    body.replaceChildren(...kept.map((at) => line(rows[at])));
    shown.textContent = `${kept.length} of ${rows.length} rows`;
  };
  const heads = table.tHead.querySelectorAll("th:has(.sorts)");
  heads.forEach((head, place) => {
    if (numeric[place]) head.classList.add("number");
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
