import { ROOT, readZones } from "./zones.ts";

/** `npm run zones`. */
const { modules, violations, ofCore, undeclared, stale } = readZones(ROOT);
for (const { rule, from, to } of violations) console.error(`error ${rule}: ${from} → ${to}`);
for (const tie of stale) console.error(`error: test/rules/zones/known-ties.json has an import that is gone: ${tie}`);
console.log(`${modules} modules, ${violations.length} violations.`);
console.log(`Imports of features by the core: ${ofCore}; undeclared between features: ${undeclared}.`);
if (violations.length + stale.length > 0) process.exitCode = 1;
