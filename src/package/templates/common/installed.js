// The scripts of package.json run this first: a fresh clone gets this line, and not "waybill: not found".
import { createRequire } from "node:module";

try {
  createRequire(import.meta.url).resolve("waybill/package.json");
} catch {
  console.error("Nothing is installed here yet. Run this first: npm install");
  process.exitCode = 1;
}
