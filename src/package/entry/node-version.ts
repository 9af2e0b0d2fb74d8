/** The first Node whose `styleText` heeds pipes, and that has all else the command imports. */
export const NODE_MIN = [20, 18] as const;

/**
 * Loads a program of the package on a Node that can link it; on an older one the reason and the remedy are the only output. The
 * program must be imported by need: a static import would fail before this check.
 */
export async function onSupportedNode(name: string, load: () => Promise<unknown>): Promise<void> {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) {
    await load();
    return;
  }
  process.stderr.write(
    `${name} needs Node ${NODE_MIN.join(".")} or later; this is ${node} (${process.execPath}).\n` +
      "Install Node 24 from nodejs.org or with your version manager, then try again.\n",
  );
  process.exitCode = 1;
}
