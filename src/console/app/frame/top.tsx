import { useEffect, useState } from "preact/hooks";
import { isReachable, unreachableSinceMs } from "../api.ts";
import { gatewayNow } from "../clock.ts";
import { deployment, environment, isProduction } from "../environment.ts";
import { force, forceWords } from "../force.ts";
import { Button } from "../parts/button.tsx";
import { Icon, Mark } from "../parts/icons.tsx";
import { fragmentOf } from "../router.ts";
import { mayView, session } from "../session.ts";
import { isPaletteOpen, isSigningIn } from "../windows.ts";
import { clockText } from "../words.ts";
import { UserMenu } from "./menu.tsx";

/** The environment and the revision in force there: always on the screen. */
export const Top = () => (
  <header class="top">
    <Brand />
    <EnvironmentTag />
    <InForce />
    <button
      type="button"
      class="find"
      onClick={() => {
        isPaletteOpen.value = true;
      }}
    >
      <Icon name="search" />
      <span>Find, or paste an ID</span>
      <kbd>Ctrl K</kbd>
    </button>
    {session.value ? (
      <UserMenu own={session.value} />
    ) : (
      session.value === null && (
        <Button
          kind="main"
          onClick={() => {
            isSigningIn.value = true;
          }}
        >
          Sign in
        </Button>
      )
    )}
  </header>
);

export const Brand = () => (
  <a class="brand" href={fragmentOf("look-up")} aria-label="Waybill">
    <Mark />
    <span>Waybill</span>
  </a>
);

/** Solid is production, dashed is another environment. One without a name is called by its host. */
export function EnvironmentTag() {
  const name = environment.value;
  const own = name === undefined ? "env unnamed" : isProduction.value ? "env" : "env other";
  return <span class={own}>{name ?? deployment.value}</span>;
}

function InForce() {
  useClock(force.value !== undefined);
  const now = force.value;
  if (now === undefined) return null;
  if (!isReachable.value || gatewayNow() - now.atMs > STALE_MS) {
    return (
      <span class="force stale">
        <Icon name="none" />
        <b>
          <span class="long">Revision </span>
          {now.revision}
        </b>
        <span class="soft">at {clockText(Math.min(unreachableSinceMs.value ?? now.atMs, now.atMs) / 1000, false)}</span>
      </span>
    );
  }
  const words = forceWords(now, gatewayNow());
  const inner = (
    <>
      <Icon name={words.icon} class={words.icon === "good" ? "" : "unsure"} />
      <b>
        <span class="long">Revision </span>
        {now.revision}
      </b>
      <span class="soft">{words.text}</span>
    </>
  );
  return (
    <>
      {mayView.value ? (
        <a class="force" href={fragmentOf("history")} title={words.title}>
          {inner}
        </a>
      ) : (
        <span class="force">{inner}</span>
      )}
      {now.canary && (
        <a class="tag dashed" href={fragmentOf("canary")}>
          Canary {now.canary.revision} · {now.canary.words}
        </a>
      )}
    </>
  );
}

/** Asked every 10 s: after this something is in the way. */
const STALE_MS = 45_000;

const TICK_MS = 5_000;

/** Draws the part again as time goes on. */
function useClock(isOn: boolean): void {
  const [, setTick] = useState(0);
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => setTick((tick) => tick + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [isOn]);
}
