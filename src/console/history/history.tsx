import { Segments } from "../app/parts/button.tsx";
import { PageHead } from "../app/parts/sheet.tsx";
import { goTo, place } from "../app/router.ts";
import { Audit } from "./audit.tsx";
import { Revisions } from "./revisions.tsx";
import "../style/publish.css";
import "../style/history.css";

/** Every revision, and who did what. */
export default function History() {
  const isLog = place.value.query.get("show") === "log";
  return (
    <>
      <PageHead title="History" text="Every revision, what it changed, and the way back.">
        <Segments
          label="Show"
          value={isLog ? "log" : "revisions"}
          options={[
            ["revisions", "Revisions"],
            ["log", "Who did what"],
          ]}
          onChange={(value) => goTo("history", value === "log" ? { show: "log" } : {})}
        />
      </PageHead>
      {isLog ? <Audit /> : <Revisions />}
    </>
  );
}
