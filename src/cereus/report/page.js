// A page without matches has no table of them.
if (document.getElementById("matches")) {
  sortableTable({
    table: document.getElementById("matches"),
    filter: document.getElementById("filter"),
    shown: document.getElementById("shown"),
    ...JSON.parse(document.getElementById("rows").textContent),
  });
}
// The still pictures stay for paper.
for (const figure of document.querySelectorAll("figure.chart")) {
  await drawChart(figure.querySelector(".live"), JSON.parse(figure.querySelector("script").textContent));
  figure.classList.add("drawn");
}
