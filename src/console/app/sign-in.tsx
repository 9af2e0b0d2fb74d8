import { useState } from "preact/hooks";
import type { Problem } from "./api.ts";
import { Field, Panel, ProblemBox } from "./parts.tsx";
import { loadSession, session, signIn } from "./session.ts";

/** A token becomes a session of this browser. The page keeps no copy of it. */
export function SignIn({ why, isFirst = false }: { why: string; isFirst?: boolean }) {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    const refused = await signIn(token.trim());
    setBusy(false);
    setProblem(refused);
    if (refused === undefined) setToken("");
  };
  return (
    <Panel title="Sign in" class="sign-in">
      <p>{why}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Field
          label="Token"
          hint="From the operators of this deployment. It becomes a session that ends after 30 minutes without use."
          type="password"
          autocomplete="current-password"
          isRequired
          isFirst={isFirst}
          value={token}
          onInput={setToken}
        />
        <button type="submit" class="main" disabled={isBusy || token.trim() === ""}>
          {isBusy ? "Signing in…" : "Sign in"}
        </button>
      </form>
      {problem && (
        <ProblemBox problem={problem.status === 401 ? { ...problem, title: "This token is not known" } : problem} />
      )}
      {session.value === undefined && (
        <button type="button" onClick={() => void loadSession()}>
          Try again
        </button>
      )}
    </Panel>
  );
}
