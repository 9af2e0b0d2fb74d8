import { parseArgs } from "node:util";
import { attacksBench } from "./attacks/attacks.bench.ts";
import { contractBench } from "./contract/contract.bench.ts";
import { createsBench } from "./creates/creates.bench.ts";
import { databasesBench } from "./databases/databases.bench.ts";
import { decideBench } from "./decide/decide.bench.ts";
import { directoryBench } from "./directory/directory.bench.ts";
import { distributedIdBench } from "./distributed-id/distributed-id.bench.ts";
import { exportsBench } from "./exports/exports.bench.ts";
import { gatewayBench } from "./gateway/gateway.bench.ts";
import { graphqlBench } from "./graphql/graphql.bench.ts";
import { idsBench } from "./ids/ids.bench.ts";
import { oracleBench } from "./ids/oracle.bench.ts";
import { type Bench, describeMachine, markdown, type Report, type Section } from "./lib/report.ts";
import { machinesBench } from "./machines/machines.bench.ts";
import { misrouteBench } from "./misroute/misroute.bench.ts";
import { packsBench } from "./packs/packs.bench.ts";
import { placesBench } from "./places/places.bench.ts";
import { publicIdsBench } from "./public-ids/public-ids.bench.ts";
import { publishBench } from "./publish/publish.bench.ts";
import { routesBench } from "./routes/routes.bench.ts";
import { scaleBench } from "./scale/scale.bench.ts";
import { signatureBench } from "./signature/signature.bench.ts";

const BENCHES: readonly Bench[] = [
  idsBench,
  distributedIdBench,
  oracleBench,
  publicIdsBench,
  routesBench,
  packsBench,
  misrouteBench,
  decideBench,
  gatewayBench,
  contractBench,
  publishBench,
  createsBench,
  placesBench,
  graphqlBench,
  directoryBench,
  exportsBench,
  attacksBench,
  signatureBench,
  scaleBench,
  databasesBench,
];

/** It ends and cuts off machines for half an hour, so it runs only where it is named. */
const BY_NAME_ALONE: readonly Bench[] = [machinesBench];
const ALL = [...BENCHES, ...BY_NAME_ALONE];
const NAMES = ALL.map(({ name }) => name).join("|");

/** Odd, so that the median is a measured round. */
const ROUNDS_DEFAULT = 9;
const SAMPLE_MS_DEFAULT = 40;

const USAGE = `usage: npm run bench -- [${NAMES} ...] [--rounds N] [--sample-ms N] [--count N] [--seed N] [--against DIR] [--short] [--rows NAMES] [--load-percent N] [--publish] [--json]
Runs all benchmarks but machines, or those named, and prints one report. Progress goes to standard error.
--count: the number of random values in distributed-id, oracle, misroute and exports, of requests in decide, of IDs in databases, of keys in directory, of publications in publish.
--seed: of the random requests in decide.
--against: another checkout with its packages installed, which runs beside this one in gateway, ids, routes and decide; nodes of machines are upgraded from it and to it.
--short, --rows, --load-percent, --publish: in machines: shorter times; the rows to run, with commas; the load in percent, for cores of another speed; publications in place of failures.`;

class UsageError extends Error {}

async function main(args: string[]): Promise<string> {
  const { names, json, help, ...figures } = readArguments(args);
  if (help) return `${USAGE}\n`;
  const progress = (line: string) => process.stderr.write(`${line}\n`);
  const machine = describeMachine();
  const sections: Section[] = [];
  for (const bench of ALL) {
    const { name, run } = bench;
    if (names.includes(name) || (names.length === 0 && BENCHES.includes(bench)))
      sections.push(...(await run({ ...figures, progress })));
  }
  for (const { title, failure } of sections) {
    if (failure === undefined) continue;
    progress(`${title}: ${failure}`);
    process.exitCode = 1;
  }
  const report: Report = { date: new Date().toISOString(), machine, sections };
  const closing = sections.flatMap((section) => (section.closing === undefined ? [] : [`${section.closing}\n`]));
  return json ? `${JSON.stringify(report, null, 2)}\n` : `${markdown(report)}${closing.join("")}`;
}

function readArguments(args: string[]) {
  const { values, positionals } = parse(args);
  const unknown = positionals.find((name) => !ALL.some((bench) => bench.name === name));
  if (unknown !== undefined) throw new UsageError(`there is no benchmark "${unknown}"`);
  if (positionals.includes(decideBench.name) && values.against === undefined) {
    throw new UsageError("decide compares with another checkout: name it with --against");
  }
  return {
    names: positionals,
    rounds: wholeNumber("--rounds", values.rounds, ROUNDS_DEFAULT),
    sampleMs: wholeNumber("--sample-ms", values["sample-ms"], SAMPLE_MS_DEFAULT),
    ...(values.count === undefined ? {} : { count: wholeNumber("--count", values.count, 0) }),
    ...(values.seed === undefined ? {} : { seed: wholeNumber("--seed", values.seed, 1) }),
    ...(values.against === undefined ? {} : { against: values.against }),
    isShort: values.short === true,
    ...(values.rows === undefined ? {} : { rowNames: values.rows.split(",") }),
    ...(values["load-percent"] === undefined
      ? {}
      : { loadPercent: wholeNumber("--load-percent", values["load-percent"], 100) }),
    isPublish: values.publish === true,
    json: values.json === true,
    help: values.help === true,
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        rounds: { type: "string" },
        "sample-ms": { type: "string" },
        count: { type: "string" },
        seed: { type: "string" },
        against: { type: "string" },
        short: { type: "boolean" },
        rows: { type: "string" },
        "load-percent": { type: "string" },
        publish: { type: "boolean" },
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function wholeNumber(flag: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`${flag} takes a whole number above 0, not "${text}"`);
  return Number(text);
}

try {
  process.stdout.write(await main(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n${USAGE}\n`);
  process.exitCode = 1;
}
