// The page of `cereus play`. Texts of events, names and queries are only ever set as text; the
// pictures and tables that are inserted as HTML are made, and escaped, by the server.
import { createEditor } from "./editor.js";

const $ = (id) => document.getElementById(id);
const make = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};
const several = (count, one, many) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

async function ask(name, given) {
  try {
    const reply = await fetch(`/ask/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(given),
    });
    if (reply.ok) return await reply.json();
    return { error: (await reply.text()).trim() };
  } catch {
    return { error: "the playground does not answer: is `cereus play` still running?" };
  }
}

// ---------------------------------------------------------------- what is asked

let known = null; // languages, functions, events
let timer = 0;
const edited = new Set(); // what was typed is not replaced by an example

const data = () => known.data.find((each) => each.name === $("data").value);
const chosenKeys = () => [...$("keys").querySelectorAll("input:checked")].map((each) => each.value);
const asked = () => ({
  text: editor.text,
  dialect: $("language").value,
  data: $("data").value,
  type: $("type").value,
  time: $("time").value,
  stream: $("stream").value,
  unit: $("unit").value,
  where: $("where").value,
  keys: chosenKeys(),
});

const editor = createEditor({
  parent: $("editor"),
  label: "Query",
  complete: async (text, offset) => {
    const letters = Array.from(text.slice(0, offset)).length;
    return (await ask("complete", { ...asked(), text, offset: letters })).words ?? [];
  },
  changed: () => {
    edited.add("text");
    later();
  },
  run: () => check(),
});

function later() {
  clearTimeout(timer);
  timer = setTimeout(check, 350);
}

function option(value, title) {
  return make("option", { value, textContent: title });
}

function showColumns(stream) {
  const names = data().columns.map((each) => each.name);
  for (const id of ["type", "time", "stream"]) {
    $(id).replaceChildren(option("", "none"), ...names.map((name) => option(name, name)));
    $(id).value = names.includes(stream[id]) ? stream[id] : "";
  }
  $("unit").value = stream.unit ?? "";
  $("where").value = stream.where ?? "";
  $("keys").replaceChildren(...names.map((name) => {
    const box = make("input", { type: "checkbox", value: name, checked: (stream.keys ?? []).includes(name) });
    box.addEventListener("change", later);
    return make("label", {}, box, name);
  }));
}

function showData(stream) {
  const { about, columns, examples, name, rows, more, types } = data();
  const first = more ? "the first " : "";
  $("about").textContent = `${about} ${first}${several(rows, "event", "events")}: ${columns.map((each) => each.name).join(", ")}.`;
  showColumns(stream ?? data().stream);
  know();
  const sample = Object.keys(examples).length > 1;
  $("download").hidden = !sample;
  if (sample) $("download").href = `/samples/${name}.parquet`;
}

function know() {
  const { keywords } = known.languages.find((each) => each.name === $("language").value);
  const columns = data().columns.map((each) => each.name);
  editor.know({ keywords, functions: known.functions, types: data().types, columns });
}

function showExample() {
  const example = data().examples[$("language").value];
  if (example === undefined) return later();
  editor.text = example;
  edited.delete("text");
}

// ---------------------------------------------------------------- the address holds the query

const COLUMNS = ["type", "time", "stream", "unit", "where"];

function fromAddress() {
  const held = new URLSearchParams(location.hash.slice(1));
  if (!held.has("query")) return null;
  const stream = { keys: held.getAll("key") };
  for (const name of COLUMNS) stream[name] = held.get(name);
  return { text: held.get("query"), dialect: held.get("language"), data: held.get("events"), stream };
}

function toAddress() {
  const { text, dialect, data, keys, ...columns } = asked();
  const held = new URLSearchParams({ language: dialect, events: data, type: columns.type, time: columns.time });
  for (const name of COLUMNS.slice(2)) if (columns[name]) held.set(name, columns[name]);
  for (const key of keys) held.append("key", key);
  held.set("query", text);
  history.replaceState(null, "", `/#${held}`);
}

// ---------------------------------------------------------------- checking and running

async function check() {
  clearTimeout(timer);
  const given = asked();
  toAddress();
  const reply = await ask("check", given);
  if (given.text !== editor.text) return; // it has changed meanwhile
  const problems = reply.problems ?? [{ start: 0, end: 0, message: reply.detail ?? reply.error, error: true }];
  editor.mark(problems);
  $("problems").replaceChildren(...problems.map((each) => problemItem(given.text, each)));
  $("words").textContent = reply.words ?? "";
  const right = given.text.trim() && !problems.some((each) => each.error);
  if (right) await run();
  else $("results").classList.add("old"); // what is shown is of an earlier text
}

function problemItem(text, { start, message, error }) {
  const line = Array.from(text).slice(0, start).join("").split("\n").length;
  return make("li", { className: error ? "error" : "warning", textContent: error ? `line ${line}: ${message}` : message });
}

const stale = new Set(); // tabs that have to be loaded when they are chosen
let lastAsked = null;
let running = false, again = false;

async function run() {
  if (running) {
    again = true;
    return;
  }
  running = true;
  do {
    again = false;
    const shown = setTimeout(() => ($("stop").hidden = false), 700);
    $("results").setAttribute("aria-busy", "true");
    const given = asked();
    const reply = await ask("run", given);
    clearTimeout(shown);
    $("stop").hidden = true;
    $("results").setAttribute("aria-busy", "false");
    if (!again) await show(given, reply);
  } while (again);
  running = false;
}

async function show(given, reply) {
  for (const name of ["why", "automaton", "others"]) stale.add(name);
  lastAsked = given;
  $("results").classList.toggle("old", given.text !== asked().text);
  if (reply.error) {
    numbers({});
    $("notes").replaceChildren();
    failed($("panel-matches"), reply);
  } else {
    const milliseconds = Math.max(1, Math.round(reply.seconds * 1000));
    numbers({
      ...(reply.total !== null && { [reply.total === 1 ? "match" : "matches"]: (reply.complete ? "" : "≥ ") + reply.total.toLocaleString("en") }),
      ...(reply.listed !== null && { [reply.listed === 1 ? "row" : "rows"]: (reply.complete ? "" : "≥ ") + reply.listed.toLocaleString("en") }),
      ...(reply.completions && { [reply.completions === 1 ? "completion" : "completions"]: reply.completions.toLocaleString("en") }),
      events: reply.events.toLocaleString("en"),
      milliseconds: milliseconds.toLocaleString("en"),
    });
    $("notes").replaceChildren(...reply.notes.map((note) => make("p", { className: "note-line", textContent: note })));
    await showMatches(reply);
  }
  await load(chosenTab());
}

function numbers(counts) {
  $("numbers").replaceChildren(...Object.entries(counts).map(([name, count]) =>
    make("li", {}, make("b", { textContent: count }), make("span", { textContent: name }))));
}

function failed(panel, reply) {
  panel.replaceChildren(make("p", { className: "failed", textContent: reply.detail ?? reply.error }));
}

// ---------------------------------------------------------------- what is shown

function tableOf(columns, label) {
  const heads = columns.map((name) => {
    const head = make("th", {}, make("button", { type: "button", className: "sorts", textContent: name }));
    head.setAttribute("aria-sort", "none");
    return head;
  });
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody"));
  table.setAttribute("aria-label", label);
  return table;
}

async function showMatches(reply) {
  const panel = $("panel-matches");
  const charts = reply.charts.map(({ title, note, spec }) => {
    const place = make("div", { className: "chart" });
    const remark = note ? make("span", { className: "note", textContent: ` (${note})` }) : "";
    return { title: make("h2", {}, title, remark), place, spec };
  });
  const table = tableOf(reply.columns, "Matches");
  const filter = make("input", { type: "search", placeholder: "filter" });
  filter.setAttribute("aria-label", "filter the matches");
  const shown = make("span", { className: "note" });
  const more = reply.rows_left_out ? `, ${reply.rows_left_out.toLocaleString("en")} more are not shown` : "";
  const list = [
    make("h2", { textContent: "The matches" }),
    make("p", { className: "filter" }, filter, make("span", {}, shown, more)),
    make("div", { className: "scroll tall" }, table),
  ];
  if (reply.rows.length === 0) {
    const look = make("button", { type: "button", textContent: "Why is there none?" });
    look.onclick = () => choose("why");
    panel.replaceChildren(make("p", { textContent: "No events match this query." }), look);
    return;
  }
  const [first, ...rest] = charts.map((each) => [each.title, each.place]);
  panel.replaceChildren(...(first ?? []), ...list, ...rest.flat());
  sortableTable({ table, filter, shown, rows: reply.rows, ranks: reply.ranks });
  await Promise.all(charts.map((each) => draw(each.place, each.spec)));
}

async function draw(place, spec) {
  if (!window.vegaEmbed) await new Promise((drawn) => window.addEventListener("load", drawn, { once: true }));
  await drawChart(place, spec);
}

const loaders = {
  async why(panel) {
    const reply = await ask("why", lastAsked);
    if (reply.error) return failed(panel, reply);
    panel.innerHTML = reply.html;
  },
  async automaton(panel) {
    const reply = await ask("automaton", lastAsked);
    if (reply.error) return failed(panel, reply);
    const picture = make("div", { className: "scroll" });
    picture.innerHTML = reply.svg ?? "";
    const parts = reply.sections.flatMap(({ title, lines, of }) => [
      make("h3", { textContent: of ? `${title} of ${of}` : title }),
      make("pre", { textContent: lines.join("\n") }),
    ]);
    panel.replaceChildren(picture, make("h2", { textContent: "How it runs" }), ...parts);
  },
  async others(panel) {
    const reply = await ask("others", lastAsked);
    if (reply.error) return failed(panel, reply);
    panel.replaceChildren(...reply.texts.map(otherLanguage));
  },
  events: (panel) => showEvents(panel, 0),
};

function otherLanguage({ dialect, text, reason }) {
  const { title } = known.languages.find((each) => each.name === dialect);
  const head = make("div", { className: "head" }, make("h3", { textContent: title }));
  if (text === undefined) return make("section", { className: "other" }, head, make("p", { className: "note", textContent: reason }));
  const open = make("button", { type: "button", textContent: "Open" });
  open.onclick = () => {
    $("language").value = dialect;
    know();
    editor.text = text;
  };
  head.append(open);
  return make("section", { className: "other" }, head, make("pre", { textContent: text }));
}

// ---------------------------------------------------------------- events, and one expected match

const picked = new Set();

async function showEvents(panel, first) {
  const reply = await ask("rows", { data: $("data").value, first });
  if (reply.error) return failed(panel, reply);
  const table = tableOf(["row", ...reply.columns], "Events");
  table.tHead.rows[0].prepend(make("th", { textContent: "" }));
  const filter = make("input", { type: "search", placeholder: "filter these" });
  filter.setAttribute("aria-label", "filter the events");
  const shown = make("span", { className: "note" });
  const why = make("button", { type: "button", textContent: "Why are these no match?" });
  const answer = make("div");
  answer.setAttribute("role", "status");
  const pickedNow = () => {
    why.disabled = picked.size === 0;
    const rows = [...picked].sort((a, b) => a - b).join(", ");
    why.textContent = ["Why are these no match?", `Why is row ${rows} no match?`][picked.size] ?? `Why are rows ${rows} no match?`;
  };
  const withBox = (line, row) => {
    const box = make("input", { type: "checkbox", checked: picked.has(row[0]) });
    box.setAttribute("aria-label", `row ${row[0]}`);
    box.onchange = () => {
      picked[box.checked ? "add" : "delete"](row[0]);
      pickedNow();
    };
    line.prepend(make("td", {}, box));
  };
  why.onclick = async () => answer.replaceChildren(...expected(await ask("why_not", { ...asked(), rows: [...picked].sort((a, b) => a - b) })));
  const step = (title, to, possible) => {
    const button = make("button", { type: "button", textContent: title, disabled: !possible });
    button.onclick = () => showEvents(panel, to);
    return button;
  };
  const last = reply.first + reply.rows.length;
  const steps = [step("Earlier", Math.max(reply.first - 100, 0), reply.first > 0), step("Later", last, last < reply.total)];
  const range = last < reply.total || reply.first ? `These are ${reply.first} to ${last - 1} of ${reply.total.toLocaleString("en")}.` : "";
  panel.replaceChildren(
    make("p", { className: "note", textContent: `Choose the rows of a match that you expected. ${range}` }),
    make("p", { className: "filter" }, filter, shown, make("span", { className: "steps" }, ...steps)),
    make("p", { className: "filter" }, why), answer,
    make("div", { className: "scroll tall" }, table),
  );
  pickedNow();
  const rows = reply.rows.map((row, place) => [reply.first + place, ...row]);
  sortableTable({ table, filter, shown, rows, ranks: [[...rows.keys()], ...reply.ranks], choose: withBox });
}

function expected(reply) {
  if (reply.error) return [make("p", { className: "failed", textContent: reply.detail ?? reply.error })];
  const rules = reply.excluded.map((each) => make("li", { textContent: each }));
  return [make("p", { textContent: reply.matched ? "They are a match." : reply.reason }), make("ul", {}, ...rules)];
}

// ---------------------------------------------------------------- a file of one's own

async function openFile(file) {
  $("opened").hidden = false;
  $("opened").className = "note";
  $("opened").textContent = `reading ${file.name} …`;
  let reply;
  try {
    const sent = await fetch(`/upload/${encodeURIComponent(file.name)}`, { method: "POST", body: file });
    reply = sent.ok ? await sent.json() : { error: (await sent.text()).trim() };
  } catch {
    reply = { error: "the file was not taken: is it too large, or `cereus play` not running?" };
  }
  if (reply.error) {
    $("opened").className = "failed";
    $("opened").textContent = reply.detail ?? reply.error;
    return;
  }
  $("opened").hidden = true;
  known.data.push(reply.data);
  $("data").append(option(reply.data.name, reply.data.title));
  $("data").value = reply.data.name;
  $("language").value = known.default; // the example is in it
  $("data").onchange();
}

$("open").onclick = () => $("file").click();
$("file").onchange = () => {
  const [file] = $("file").files;
  $("file").value = ""; // the same file may be opened again
  if (file) openFile(file);
};
const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
document.addEventListener("dragover", (event) => {
  if (!carriesFiles(event)) return;
  event.preventDefault();
  document.body.classList.add("dropping");
});
document.addEventListener("dragleave", (event) => event.relatedTarget || document.body.classList.remove("dropping"));
document.addEventListener("drop", (event) => {
  if (!carriesFiles(event)) return;
  event.preventDefault();
  document.body.classList.remove("dropping");
  openFile(event.dataTransfer.files[0]);
});

// ---------------------------------------------------------------- tabs

const tabs = [...document.querySelectorAll("[role=tab]")];
const chosenTab = () => tabs.find((tab) => tab.getAttribute("aria-selected") === "true").id.slice(4);

function choose(name) {
  for (const tab of tabs) {
    const chosen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    $(tab.getAttribute("aria-controls")).hidden = !chosen;
  }
  return load(name);
}

async function load(name) {
  if (!stale.delete(name) || !lastAsked) return;
  const panel = $(`panel-${name}`);
  panel.setAttribute("aria-busy", "true");
  await loaders[name](panel);
  panel.setAttribute("aria-busy", "false");
}

tabs.forEach((tab, place) => {
  tab.onclick = () => choose(tab.id.slice(4));
  tab.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const to = event.key === "Home" ? 0 : event.key === "End" ? tabs.length - 1 : place + (step ?? NaN);
    if (Number.isNaN(to)) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length];
    next.focus();
    next.click();
  };
});

// ---------------------------------------------------------------- copying

async function copyText(title) {
  toAddress();
  if (title === "link") return location.href;
  const reply = await ask("copies", asked());
  return reply.texts?.[title];
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.onclick = async () => {
    const text = await copyText(button.dataset.copy);
    let message = `${button.textContent}: copied`;
    try {
      if (text === undefined) message = "nothing was copied: the playground does not answer";
      else await navigator.clipboard.writeText(text);
    } catch {
      message = "the browser did not allow copying";
    }
    $("copied").textContent = message;
    setTimeout(() => ($("copied").textContent = ""), 3000);
    $("copy").open = false;
  };
}
document.addEventListener("click", (event) => $("copy").contains(event.target) || ($("copy").open = false));
document.addEventListener("keydown", (event) => event.key === "Escape" && ($("copy").open = false));

// ---------------------------------------------------------------- beginning

$("run").onclick = () => check();
$("stop").onclick = () => fetch("/stop", { method: "POST" });
$("language").onchange = () => {
  know();
  edited.has("text") ? later() : showExample();
};
$("data").onchange = () => {
  $("results").classList.add("old");
  picked.clear();
  stale.add("events");
  showData();
  showExample();
  load(chosenTab());
};
for (const id of COLUMNS) $(id).onchange = later;
$("where").oninput = later;

function begin(query) {
  const names = known.data.map((each) => each.name);
  $("data").value = names.includes(query?.data) ? query.data : names[0];
  const languages = known.languages.map((each) => each.name);
  $("language").value = languages.includes(query?.dialect) ? query.dialect : known.default;
  showData(query?.stream);
  stale.add("events");
  if (query?.text !== undefined && query.text !== null) editor.text = query.text;
  else showExample();
  clearTimeout(timer);
  check();
}

known = await ask("start", {});
if (known.error) {
  $("about").textContent = "";
  failed($("panel-matches"), known);
} else {
  $("language").replaceChildren(...known.languages.map((each) => option(each.name, each.title)));
  $("data").replaceChildren(...known.data.map((each) => option(each.name, each.title)));
  begin(fromAddress() ?? known.first);
  window.addEventListener("hashchange", () => begin(fromAddress()));
}
