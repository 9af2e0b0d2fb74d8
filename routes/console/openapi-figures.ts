import { TEXT, TIME } from "../openapi/paths.ts";

/** Schemas of figures over time, for OpenAPI. */

export const OR_NULL = { type: ["string", "null"] };

const NUMBERS = { type: "array", items: { type: "number" } };
const TIMES = { type: "array", items: { type: ["number", "null"] }, description: "Milliseconds." };

const CLASSES = {
  type: "object",
  description:
    "Answers by class: 2xx, 3xx, 404, 421, 4xx (others), 5xx, elsewhere or left. Those without any are absent.",
  additionalProperties: NUMBERS,
};

const SERIES = {
  type: "object",
  required: ["requests", "errors", "refused", "faults", "busyMs", "p50", "p99", "originP50", "originP99"],
  properties: {
    requests: NUMBERS,
    errors: NUMBERS,
    refused: NUMBERS,
    faults: NUMBERS,
    busyMs: { ...NUMBERS, description: "Sums of all requests." },
    p50: TIMES,
    p99: TIMES,
    originP50: TIMES,
    originP99: TIMES,
    classes: CLASSES,
  },
};

const TABLE_FIGURES = {
  type: "object",
  required: ["requests", "errors", "p50", "p99"],
  properties: {
    requests: { type: "number" },
    errors: { type: "number", description: "Answers from status 500 on, and problems." },
    classes: { type: "object", description: "Requests by class.", additionalProperties: { type: "number" } },
    p50: { type: ["number", "null"], description: "Milliseconds." },
    p99: { type: ["number", "null"], description: "Milliseconds." },
    steps: {
      type: "object",
      description: "The same over time.",
      required: ["requests", "errors", "refused", "p50", "p99", "classes"],
      properties: {
        requests: NUMBERS,
        errors: NUMBERS,
        refused: { ...NUMBERS, description: "Statuses from 400 to 499." },
        p50: TIMES,
        p99: TIMES,
        classes: CLASSES,
      },
    },
  },
};

const ISOLATE = {
  type: "object",
  required: ["isolate", "revision", "canary", "confirmedAt", "reportedAt"],
  properties: {
    isolate: { ...TEXT, description: "Random, made when it began." },
    revision: { type: "integer" },
    canary: { type: ["integer", "null"] },
    confirmedAt: { ...TIME, description: "When its table was last known to be the published one." },
    reportedAt: TIME,
  },
};

const ROUTE_REQUESTS = {
  type: "object",
  required: ["revision", "pointer", "requests"],
  properties: {
    revision: {
      type: ["integer", "null"],
      description:
        "Of the table that decided. `null`: these found no room, and the other figures are at least so many.",
    },
    pointer: {
      ...TEXT,
      description: "JSON pointer of the rule. `(other)`: routes from 201 on. `(none)`: no single rule decided.",
    },
    requests: { type: "number" },
  },
};

/** `GET /-/metrics/problems/:slug`. */
export const PROBLEM_SAMPLES = {
  type: "object",
  required: ["source", "slug", "keptSeconds", "samples"],
  properties: {
    source: {
      type: "string",
      enum: ["all", "none", "off"],
      description: "`none`: they could not be read. `off`: `PROBLEM_SAMPLES` is off.",
    },
    slug: TEXT,
    keptSeconds: { type: "integer" },
    samples: {
      type: "array",
      maxItems: 5,
      description: "Newest first.",
      items: {
        type: "object",
        required: ["at", "method", "path", "region", "status"],
        properties: {
          at: TIME,
          method: TEXT,
          path: { ...TEXT, description: "As logged: without the query and public IDs; cut after 200 characters." },
          region: OR_NULL,
          status: { type: "integer" },
        },
      },
    },
  },
};

const CANARY_VERDICT = {
  type: "object",
  description: "Whether a canary may be promoted, by the requests of all steps together.",
  required: ["verdict", "words", "worse"],
  properties: {
    verdict: {
      type: "string",
      enum: ["worse", "no-worse", "too-few"],
      description: "`worse`: do not promote. `too-few`: too few requests, or too short a time.",
    },
    words: TEXT,
    worse: {
      type: "array",
      description: "Classes that are more frequent than in force, beyond chance, with their shares of the requests.",
      items: {
        type: "object",
        required: ["class", "canary", "inForce"],
        properties: { class: TEXT, canary: { type: "number" }, inForce: { type: "number" } },
      },
    },
    conditions: {
      type: "array",
      items: {
        type: "object",
        required: ["name", "holds", "value", "bound"],
        properties: {
          name: { type: "string", enum: ["requests", "time", "classes", "p99"] },
          holds: { type: ["boolean", "null"], description: "`null`: it was not measured." },
          value: { type: ["number", "null"] },
          bound: { type: "number" },
        },
      },
    },
  },
};

/** `GET /-/metrics/history`. */
export const HISTORY = {
  type: "object",
  description: "Lists have one entry for each step. A report counts in the step in which it arrives.",
  required: [
    "source",
    "span",
    "stepSeconds",
    "since",
    "at",
    "total",
    "regions",
    "problems",
    "tables",
    "canaryVerdict",
    "isolates",
  ],
  properties: {
    source: { type: "string", enum: ["all", "none"], description: "`none`: the counters could not be read." },
    span: { type: "string", enum: ["hour", "day", "month"] },
    stepSeconds: { type: "integer" },
    since: { ...OR_NULL, format: "date-time" },
    at: { ...NUMBERS, description: "Start of each step, Unix seconds; the last is not over." },
    total: SERIES,
    regions: { type: "object", additionalProperties: SERIES },
    problems: { type: "object", additionalProperties: NUMBERS },
    tables: {
      type: "object",
      description: "Requests while a canary ran, by the table that decided them; of all steps together.",
      required: ["stable", "canary"],
      properties: { stable: TABLE_FIGURES, canary: TABLE_FIGURES },
    },
    canaryVerdict: CANARY_VERDICT,
    routes: {
      type: "array",
      description: "Requests of all steps by the rule that decided them, most first.",
      items: ROUTE_REQUESTS,
    },
    lastEvent: { type: "integer", description: "ID of the newest event of the log; absent without one." },
    isolates: {
      type: "object",
      description: "The tables in force by isolate, as reported in the last minute or so.",
      required: ["count", "shown"],
      properties: {
        count: { type: "integer" },
        shown: { type: "array", maxItems: 50, items: ISOLATE, description: "The furthest behind first." },
      },
    },
  },
};
