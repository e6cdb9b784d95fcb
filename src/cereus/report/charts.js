"use strict";
// A chart that is drawn in the page: as wide as its place, with the values of what one points at. One that
// zooms has buttons for it, as a phone has no wheel; a wheel zooms with Ctrl held, as without it one scrolls the page.
async function drawChart(place, spec) {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  spec.width = "container";
  spec.config.legend = { ...spec.config.legend, orient: "top" };
  for (const each of spec.params ?? []) each.select.zoom = "wheel![event.ctrlKey || event.metaKey]";
  // `ast`: expressions are interpreted, so that the page may refuse scripts in texts
  const options = { mode: "vega-lite", ast: true, actions: false, renderer: "svg", tooltip: { theme: dark ? "dark" : "light" } };
  const { view } = await window.vegaEmbed(place, spec, options);
  if (spec.params) place.prepend(zoomButtons(view));
}

// `zoom__at` is what altair calls the range of the axis `~at` that `zoom` shows.
function zoomButtons(view) {
  const zoom = (share) => {
    const [first, last] = view.scale("x").domain().map(Number);
    const middle = (first + last) / 2, half = ((last - first) * share) / 2;
    view.signal("zoom__at", share === null ? null : [middle - half, middle + half]).run();
  };
  const row = document.createElement("p");
  row.className = "zooms screen";
  for (const [text, name, share] of [["+", "zoom in", 0.5], ["−", "zoom out", 2], ["all", "show all", null]]) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: text, ariaLabel: name, title: name, onclick: () => zoom(share) });
    row.append(button);
  }
  const note = document.createElement("span");
  note.className = "note";
  note.textContent = "drag to move, Ctrl and the wheel to zoom, point at an event for its values";
  row.append(note);
  return row;
}
