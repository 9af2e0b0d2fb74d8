import { ROOT, readZones } from "./zones.ts";

/** `npm run zones`. */
const { modules, violations, ofCore, undeclared } = readZones(ROOT);
for (const { rule, from, to } of violations) console.error(`error ${rule}: ${from} → ${to}`);
console.log(`${modules} modules, ${violations.length} violations.`);
console.log(`Imports of features by the core: ${ofCore}; undeclared between features: ${undeclared}.`);
if (violations.length > 0) process.exitCode = 1;
