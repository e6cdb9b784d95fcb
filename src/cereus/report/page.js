// A page without matches has no table of them.
if (document.getElementById("matches")) {
  sortableTable({
    table: document.getElementById("matches"),
    filter: document.getElementById("filter"),
    shown: document.getElementById("shown"),
    ...JSON.parse(document.getElementById("rows").textContent),
  });
}
