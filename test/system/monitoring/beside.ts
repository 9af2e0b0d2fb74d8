import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificates } from "../../../src/host/machines/certificates.ts";
import { buildGateway } from "../../../src/host/self-hosting.ts";
import { edgeArgs, nodeArgs, ORDER, serve, startOrigin, writeTable } from "../machines/serving.ts";
import { PEER_KEYS } from "../mesh/mesh.ts";
import { startStack } from "../stack.ts";

/** Targets of a monitoring system beside one gateway: a second one of its mesh, and a small cluster. */

const stopped = async ({ server }: Awaited<ReturnType<typeof startOrigin>>) => {
  server.closeAllConnections();
  server.close();
};

/** Serves the region `far` to the gateways that have its keys. */
export async function startPeer() {
  const origin = await startOrigin();
  const stack = await startStack(
    {
      regions: { far: { origins: [{ url: origin.url }] } },
      countries: { FR: 11 },
      entities: { order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] } },
      routes: [],
      default: "far",
    } as never,
    { GATEWAY_NAME: "far-gw", SELF_REGIONS: "far", PEER_KEYS, REPORT_SECONDS: "1" },
  );
  const stop = async () => {
    await stack.stop();
    await stopped(origin);
  };
  return { url: stack.url, stop };
}

/** One state node and one edge, which are asked without credentials. */
export async function startCluster() {
  const folder = mkdtempSync(join(tmpdir(), "waybill-monitored-"));
  const origin = await startOrigin();
  const built = await buildGateway(join(folder, "build"), writeTable(folder, origin.url));
  if (!built.ok) throw new Error(JSON.stringify(built.error));
  const certificates = makeCertificates(join(folder, "tls"), 30);
  if (!certificates.ok) throw new Error(JSON.stringify(certificates.error));
  const options = { cwd: folder, env: { REPORT_SECONDS: "1" } };
  const node = await serve(nodeArgs(), options);
  const edge = await serve(edgeArgs("e1", [`127.0.0.1:${node.statePort}`]), options);
  const url = edge.urls[0] as string;
  const stop = async () => {
    await edge.stop();
    await node.stop();
    await stopped(origin);
    rmSync(folder, { recursive: true, force: true });
  };
  const round = async () => {
    await (await fetch(`${url}/orders/${ORDER}`)).arrayBuffer();
  };
  return { url, round, stop };
}
