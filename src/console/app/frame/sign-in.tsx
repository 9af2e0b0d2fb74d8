import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { call, isReachable, type Problem } from "../api.ts";
import { deployment } from "../environment.ts";
import { Button } from "../parts/button.tsx";
import { Field } from "../parts/fields.tsx";
import { Icon, Mark } from "../parts/icons.tsx";
import { Shape } from "../parts/region.tsx";
import { Note, ProblemNote } from "../parts/sheet.tsx";
import { fragmentOf, goTo } from "../router.ts";
import { enter, loadSession, type Session, session, signIn } from "../session.ts";
import { isSigningIn } from "../windows.ts";
import { EnvironmentTag } from "./top.tsx";

/** The form: its token, its problem, and its sending. `onDone`: with the one who is signed in now. */
export function useSignIn(onDone: (own: Session) => void | Promise<void>) {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    if (token.trim() === "" || isBusy) return;
    setBusy(true);
    const answer = await signIn(token.trim());
    setProblem(answer.ok ? undefined : answer.problem);
    if (answer.ok) {
      // The page keeps no copy of it.
      setToken("");
      await onDone(answer.value);
    }
    setBusy(false);
  };
  return { token, setToken, problem, isBusy, submit };
}

export type SigningIn = ReturnType<typeof useSignIn>;

export const RefusedToken = ({ problem }: { problem: Problem | undefined }) =>
  problem && (
    <ProblemNote problem={problem.status === 401 ? { ...problem, title: "This token is not known" } : problem} />
  );

export const TokenField = (props: {
  label: string;
  hint: ComponentChildren;
  signing: SigningIn;
  isFirst?: boolean;
}) => (
  <Field
    label={props.label}
    hint={props.hint}
    type="password"
    autocomplete="current-password"
    isRequired
    isTall
    {...(props.isFirst && { isFirst: true })}
    value={props.signing.token}
    onInput={props.signing.setToken}
  />
);

/** The whole page of one who is not signed in. */
export function Gate() {
  const signing = useSignIn(async (own) => {
    await enter(own);
    isSigningIn.value = false;
  });
  const title = useId();
  return (
    <div class="gate">
      <Art />
      <main class="gate-form" id="main" tabIndex={-1} aria-labelledby={title}>
        <div>
          <div>
            <EnvironmentTag />
          </div>
          <div>
            <h2 id={title}>Sign in</h2>
            <p class="soft">{deployment.value}</p>
          </div>
          {!isReachable.value && <NoAnswer />}
          <form
            class="pile small"
            onSubmit={(event) => {
              event.preventDefault();
              void signing.submit();
            }}
          >
            <TokenField
              label="Token"
              hint="From the operators of this deployment. It is not kept: it becomes a session that ends after 30 minutes without use."
              signing={signing}
            />
            <RefusedToken problem={signing.problem} />
            <Button kind="main" size="tall" isSubmit isBusy={signing.isBusy}>
              {signing.isBusy ? "Signing in…" : "Sign in"}
            </Button>
          </form>
          <a
            class="btn tall"
            href={fragmentOf("look-up")}
            onClick={() => {
              isSigningIn.value = false;
              // A page may have written this address before: then a link to it changes nothing.
              goTo("look-up");
            }}
          >
            <Icon name="look-up" />
            Look up an ID without signing in
          </a>
          <p class="soft small-text">IDs are then read by the built-in layouts alone. Nothing is sent.</p>
        </div>
      </main>
    </div>
  );
}

const NoAnswer = () => (
  <Note kind="first" title="The gateway does not answer" isAlert aside={<AskNow />}>
    It must answer before one can sign in.
  </Note>
);

const Art = () => (
  <header class="gate-art">
    <span class="brand">
      <Mark />
      <span>Waybill</span>
    </span>
    <div>
      <h1>The ID is the waybill.</h1>
      <p>It says where a request belongs. Read it, watch the traffic, change the table with care.</p>
    </div>
    <BarCode />
  </header>
);

const AskNow = () => (
  <Button
    size="small"
    onClick={() => {
      // A page that never heard of its session asks for that first.
      void (session.value === undefined ? loadSession() : call("/-/health"));
    }}
  >
    Ask now
  </Button>
);

/** An order of Kazakhstan. */
const EXAMPLE = "01a219c191d18005805e926d709be1b4";
const BITS = BigInt(`0x${EXAMPLE}`)
  .toString(2)
  .padStart(EXAMPLE.length * 4, "0");

/** Country and service, 8 bits each. */
const isKey = (at: number): boolean => (at >= 56 && at < 64) || (at >= 66 && at < 74);

/** An ID as what it is: the bits that decide are in the colour of the mark. */
const BarCode = () => (
  <div aria-hidden="true">
    <svg class="gate-code" viewBox="0 0 1024 120" preserveAspectRatio="none" aria-hidden="true">
      {[...BITS].map(
        (bit, at) =>
          bit === "1" && <rect key={at} class={isKey(at) ? "hit" : ""} x={at * 8 + 1} width="6" height="120" />,
      )}
    </svg>
    <div class="gate-legend">
      <span>
        time<b>2026-11-26 21:27</b>
      </span>
      <span class="hot">
        country<b>Kazakhstan</b>
      </span>
      <span class="hot">
        service<b>order</b>
      </span>
      <span>
        so it goes to
        <b>
          <Shape place={3} /> ap
        </b>
      </span>
    </div>
  </div>
);
