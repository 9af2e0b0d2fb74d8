import { useEffect, useState } from "preact/hooks";
import { keepLastChange } from "../publish/open.ts";
import { announcement } from "./announce.ts";
import { hasExpired, isReachable } from "./api.ts";
import { deployment, environment } from "./environment.ts";
import { Banners, Expired } from "./frame/banners.tsx";
import { Body } from "./frame/body.tsx";
import { KeysHelp } from "./frame/keys.tsx";
import { Side, SubNav, Tabs } from "./frame/nav.tsx";
import { Palette } from "./frame/palette.tsx";
import { Gate } from "./frame/sign-in.tsx";
import { Top } from "./frame/top.tsx";
import { mayOpen, type Page, pageOf } from "./pages.ts";
import { isNowhere, place } from "./router.ts";
import { session } from "./session.ts";
import { trouble } from "./trouble.ts";
import { isHelpOpen, isPaletteOpen, isSigningIn, laterWindows } from "./windows.ts";

export function App() {
  const page = pageOf(place.value.page);
  const isGate = isSignInPage(page);
  const title = isGate ? "Sign in" : titleOf(page);
  const name = environment.value ?? deployment.value;
  const Later = laterWindows.value;
  useEffect(() => {
    if (session.value) keepLastChange();
  }, [session.value]);
  useEffect(() => {
    document.title = `${title} – Waybill ${name}`;
  }, [title, name]);
  return (
    <>
      {isGate ? <Gate /> : <Frame page={page} />}
      <p class="hidden" role="status" aria-live="polite">
        {announcement.value}
      </p>
      {isPaletteOpen.value && <Palette />}
      {isHelpOpen.value && <KeysHelp />}
      {Later && <Later />}
    </>
  );
}

/** Signed out, at a page for the signed in, or at none. */
function isSignInPage(page: Page): boolean {
  if (session.value === null) return isSigningIn.value || isNowhere.value || !mayOpen(page);
  return session.value === undefined && !isReachable.value && !mayOpen(page);
}

/** The title of the tab says trouble: it is seen from other tabs. */
function titleOf({ title }: Page): string {
  if (!isReachable.value) return "No answer";
  if (hasExpired.value) return "Session ended";
  return trouble.value.worst === undefined ? title : trouble.value.words;
}

function Frame({ page }: { page: Page }) {
  const isEnded = hasExpired.value && Boolean(session.value);
  /** The window was closed, to look at what is on the page. */
  const [isAside, setAside] = useState(false);
  useEffect(() => {
    if (!isEnded) setAside(false);
  }, [isEnded]);
  useEffect(() => scrollTo(0, 0), [page.name]);
  return (
    <div class="app">
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        To the content
      </button>
      <Side page={page.name} />
      <Top />
      <main id="main" tabIndex={-1}>
        <Banners onSignIn={isEnded && isAside ? () => setAside(false) : undefined} />
        <SubNav page={page.name} />
        <Body page={page} />
      </main>
      <Tabs page={page.name} />
      {isEnded && !isAside && <Expired onClose={() => setAside(true)} />}
    </div>
  );
}
