import { TICKET_LAYOUT } from "../fixtures/ticket-layout.ts";
import type { TableOfEntities } from "./tables.ts";

/** A table whose entities have IDs of many layouts, with one of the user's own and two Snowflakes of other epochs. */
export const manyLayoutsTable = (): TableOfEntities => ({
  regions: {
    eu: { origins: [{ url: "https://eu.example.com" }] },
    us: { origins: [{ url: "https://us.example.com" }] },
    ap: { origins: [{ url: "https://ap.example.com" }] },
  },
  countries: { KZ: 5, BR: 7 },
  entities: {
    tweet: { path: "/tweets/:id", ids: [{ layout: "snowflake" }] },
    message: { path: "/messages/:id", ids: [{ layout: "discord" }, { layout: "ulid" }] },
    job: { path: "/jobs/:id", ids: [{ layout: "xid" }, { layout: "object-id" }, { layout: "ksuid" }] },
    frame: { path: "/frames/:id", ids: [{ layout: "flake" }] },
    invoice: { path: "/invoices/:id", ids: [{ layout: "distributed-id" }, { layout: "uuid-v7" }] },
    ticket: { path: "/tickets/:id", ids: [{ layout: "ticket", service: 3 }] },
    pass: { path: "/passes/:id", ids: [{ layout: "ticket", service: 4 }] },
    person: { path: "/person/:id", ids: [{ layout: "luuid", class: "com.example.Person" }] },
  },
  layouts: {
    discord: { like: "snowflake", epoch: "2015-01-01T00:00:00Z" },
    ticket: TICKET_LAYOUT,
  },
  routes: [
    { when: { layout: ["snowflake", "discord"], fields: { datacenter: 1, worker: "0-15" } }, region: "eu" },
    { when: { layout: "snowflake" }, region: "us" },
    { when: { layout: "discord", mintedBefore: "2020-01-01T00:00:00Z" }, region: "us" },
    { when: { layout: "discord" }, region: "ap" },
    { when: { layout: "xid", fields: { machine: ["1", "7-9"] } }, region: "ap" },
    { when: { layout: ["xid", "object-id", "ksuid"] }, region: "eu" },
    { when: { layout: "ticket", country: "KZ", fields: { machine: "0-127" } }, region: "ap" },
    { when: { layout: "ticket", country: "KZ" }, region: "us" },
    { when: { entity: "ticket", country: "BR" }, region: "us" },
  ],
  default: "eu",
});
