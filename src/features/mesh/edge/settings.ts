import { parseSigningKeys, type SigningKeys } from "../../../edge/origins/signer.ts";
import { readOr, type SettingFault, type Settings } from "../../../edge/settings.ts";
import { DEFAULT_NAME } from "../../../proxy/origin-request.ts";
import { parseSelfRegions } from "../table/self-regions.ts";

/** The regions whose origins this deployment asks; `undefined`: it is in no mesh. */
export const SELF_REGIONS = {
  setting: "SELF_REGIONS",
  parse: parseSelfRegions,
  none: undefined as readonly string[] | undefined,
  secretsOf: (): readonly Uint8Array[] => [],
} as const;

const PEER_KEYS_FAULT = "PEER_KEYS must be of the form of ORIGIN_SIGNING_KEYS, with one key or two";

/** By these the gateways of a mesh know each other. The first signs. */
export const PEER_KEYS = {
  setting: "PEER_KEYS",
  parse: (text: string) => readOr(parseSigningKeys(text), PEER_KEYS_FAULT),
  none: [] as SigningKeys,
  secretsOf: (): readonly Uint8Array[] => [],
} as const;

export interface Texts {
  readonly selfRegions: readonly string[] | undefined;
  readonly peerKeys: SigningKeys;
  readonly signingKeys: SigningKeys;
}

/** A gateway of a mesh has both settings and a name of its own. Origins must not be able to make hops. */
export const meshFaults = (
  env: Settings,
  { peerKeys, signingKeys }: Texts,
  known: readonly SettingFault[],
): readonly SettingFault[] => {
  const { SELF_REGIONS: regions, PEER_KEYS: keys, GATEWAY_NAME: name = DEFAULT_NAME } = env;
  const isFaulty = known.some(({ setting }) => setting === "SELF_REGIONS" || setting === "PEER_KEYS");
  if (isFaulty || (regions ?? keys ?? undefined) === undefined) return [];
  const texts = signingKeys.map(({ key }) => String(key));
  const faults: readonly (readonly [isFault: boolean, setting: string, why: string])[] = [
    [(regions ?? undefined) === undefined, "PEER_KEYS", "PEER_KEYS needs SELF_REGIONS"],
    [(keys ?? undefined) === undefined, "PEER_KEYS", "SELF_REGIONS needs PEER_KEYS"],
    [
      peerKeys.some(({ key }) => texts.includes(String(key))),
      "PEER_KEYS",
      "PEER_KEYS has a key of ORIGIN_SIGNING_KEYS",
    ],
    [name === DEFAULT_NAME, "GATEWAY_NAME", "SELF_REGIONS needs a GATEWAY_NAME that no other gateway has"],
  ];
  return faults.flatMap(([isFault, setting, why]) => (isFault ? { setting, why } : []));
};
