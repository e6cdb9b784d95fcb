// Bundles the editor into the package, with the licences of what is in it:
//   npm ci && npm run build
// The result is kept in the repository, so that nobody needs Node to install Cereus.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";

const STATIC = "../../src/cereus/play/static";
const made = await build({
  entryPoints: ["editor.js"],
  outfile: `${STATIC}/editor.js`,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  metafile: true,
  banner: { js: "/* CodeMirror 6 and what it needs, MIT licence: see editor.licences.txt */" },
});
const names = Object.keys(made.metafile.inputs)
  .map((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1])
  .filter(Boolean);
const licences = [...new Set(names)].sort().map((name) => {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
  return `${name} ${version}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`;
});
writeFileSync(`${STATIC}/editor.licences.txt`, licences.join("\n----\n\n"));
