"use strict";
(() => {
  const data = JSON.parse(document.getElementById("rows").textContent);
  const table = document.getElementById("matches");
  if (!table) return;
  const body = table.tBodies[0];
  const filter = document.getElementById("filter");
  const shown = document.getElementById("shown");
  let order = null, down = false;
  const text = (value) => (value === null ? "" : String(value));
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : text(a).localeCompare(text(b));
  const draw = () => {
    const wanted = filter.value.toLowerCase();
    let rows = data.rows.filter((row) => row.some((cell) => text(cell).toLowerCase().includes(wanted)));
    if (order !== null) rows = [...rows].sort((a, b) => compare(a[order], b[order]) * (down ? -1 : 1));
    body.replaceChildren(...rows.map((row) => {
      const line = document.createElement("tr");
      for (const cell of row) {
        const place = document.createElement("td");
        place.textContent = text(cell);
        if (typeof cell === "number") place.className = "number";
        line.append(place);
      }
      return line;
    }));
    shown.textContent = `${rows.length} of ${data.rows.length} rows`;
  };
  table.tHead.querySelectorAll("button").forEach((button, place) =>
    button.addEventListener("click", () => {
      down = order === place && !down;
      order = place;
      table.tHead.querySelectorAll("th").forEach((head, other) =>
        head.setAttribute("aria-sort", other !== place ? "none" : down ? "descending" : "ascending"));
      draw();
    }));
  filter.addEventListener("input", draw);
  draw();
})();
