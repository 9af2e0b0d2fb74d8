import { fail } from "./publish.ts";

/** `npm run publish` of former versions wrote the folder of a stopped gateway. Now the gateway alone writes it. */
process.exitCode = fail(`npm run publish is gone: only a gateway publishes into its state. Nothing was published.
Publish to the running gateway:     \`waybill table publish TABLE_FILE\`
Or start a stopped one with it:     \`waybill serve BUILD --state STATE_FOLDER --table TABLE_FILE\`
`);
