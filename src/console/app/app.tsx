import { signal } from "@preact/signals";
import { Component, type ComponentChildren, type ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { LookUp } from "../lookup/look-up.tsx";
import { call, hasExpired, isReachable } from "./api.ts";
import { PAGES } from "./pages.ts";
import { isPaletteOpen, Palette } from "./palette.tsx";
import { announcement, Badge, Busy, Choice, Dialog, ProblemBox } from "./parts.tsx";
import { fragmentOf, type PageName, place } from "./router.ts";
import { loadTable, namesProblem, session, signOut } from "./session.ts";
import { textSize, theme } from "./settings.ts";
import { SignIn } from "./sign-in.tsx";

type Loader = () => Promise<ComponentType>;

/** Pages beside the first one are loaded when they are opened. */
const LOADERS: Readonly<Partial<Record<PageName, Loader>>> = {
  overview: () => import("../overview/overview.tsx").then((part) => part.default),
  table: () => import("../table/table-page.tsx").then((part) => part.default),
  history: () => import("../changes/history.tsx").then((part) => part.default),
  canary: () => import("../changes/canary.tsx").then((part) => part.default),
  stock: () => import("../changes/stock.tsx").then((part) => part.default),
  moves: () => import("../moves/moves.tsx").then((part) => part.default),
  mint: () => import("../layouts/mint.tsx").then((part) => part.default),
  layouts: () => import("../layouts/layouts.tsx").then((part) => part.default),
};

export function App() {
  const { page } = place.value;
  const own = PAGES.find(({ name }) => name === page);
  const mayOpen = own?.scopes === undefined || own.scopes.some((scope) => scope === session.value?.scope);
  useEffect(() => {
    if (!hasExpired.value) isExpiredHidden.value = false;
  }, [hasExpired.value]);
  useEffect(() => {
    document.title = `${own?.title ?? "Console"} – Waybill`;
  }, [own]);
  return (
    <div class="old">
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        To the content
      </button>
      <Bar page={page} />
      <Banners />
      <main id="main" tabIndex={-1}>
        <Guard key={page}>{mayOpen ? <Body page={page} /> : <NotAllowed title={own?.title ?? ""} />}</Guard>
      </main>
      <p class="hidden" role="status" aria-live="polite">
        {announcement.value}
      </p>
      {isPaletteOpen.value && <Palette />}
      {hasExpired.value && session.value && !isExpiredHidden.value && <Expired />}
    </div>
  );
}

function Bar({ page }: { page: PageName }) {
  const own = session.value;
  const [isOpen, setOpen] = useState(false);
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone the pages are wider than the screen: the one that is open must be in view. Not by `scrollIntoView`, from
    // where the next Tab would go on.
    const show = () => {
      const current = nav.current?.querySelector<HTMLElement>("[aria-current]");
      if (nav.current && current)
        nav.current.scrollLeft = current.offsetLeft - (nav.current.clientWidth - current.clientWidth) / 2;
    };
    show();
    addEventListener("resize", show);
    return () => removeEventListener("resize", show);
  }, [page, own]);
  return (
    <header class="bar">
      <a class="brand" href={fragmentOf("look-up")}>
        Waybill
      </a>
      <nav ref={nav} aria-label="Pages">
        {PAGES.filter(({ scopes }) => scopes === undefined || scopes.some((scope) => scope === own?.scope)).map(
          ({ name, title }) => (
            <a key={name} href={fragmentOf(name)} aria-current={name === page ? "page" : undefined}>
              {title}
            </a>
          ),
        )}
      </nav>
      <button
        type="button"
        class="find"
        onClick={() => {
          isPaletteOpen.value = true;
        }}
      >
        Find <kbd>Ctrl K</kbd>
      </button>
      <button type="button" onClick={() => setOpen(true)}>
        {own ? own.name : "Settings"}
      </button>
      {isOpen && <Settings onClose={() => setOpen(false)} />}
    </header>
  );
}

function Settings({ onClose }: { onClose: () => void }) {
  const own = session.value;
  return (
    <Dialog title="Settings" onClose={onClose}>
      {own && (
        <p>
          Signed in as <strong>{own.name}</strong> <Badge>{own.scope}</Badge>
        </p>
      )}
      <Choice
        label="Theme"
        value={theme.value}
        options={[
          ["system", "As the system"],
          ["light", "Light"],
          ["dark", "Dark"],
        ]}
        onChange={(value) => {
          theme.value = value;
        }}
      />
      <Choice
        label="Text size"
        value={textSize.value}
        options={[
          ["small", "Small"],
          ["normal", "Normal"],
          ["large", "Large"],
        ]}
        onChange={(value) => {
          textSize.value = value;
        }}
      />
      {own && (
        <button type="button" onClick={() => void signOut().then(onClose)}>
          Sign out
        </button>
      )}
    </Dialog>
  );
}

function Banners() {
  return (
    <>
      {!isReachable.value && (
        <div class="banner bad" role="alert">
          The gateway does not answer. The page may be out of date; it tries again by itself.{" "}
          <button type="button" class="small" onClick={() => void call("/-/health")}>
            Try now
          </button>
        </div>
      )}
      {hasExpired.value && session.value && isExpiredHidden.value && (
        <div class="banner bad" role="alert">
          Your session has ended. Your text is kept in this tab.{" "}
          <button
            type="button"
            class="small"
            onClick={() => {
              isExpiredHidden.value = false;
            }}
          >
            Sign in again
          </button>
        </div>
      )}
      {namesProblem.value && session.value && isReachable.value && (
        <ProblemBox problem={namesProblem.value} onRetry={() => void loadTable()} />
      )}
    </>
  );
}

/** The window was closed, to look at what is on the page. */
const isExpiredHidden = signal(false);

const Expired = () => (
  <Dialog
    title="Your session has ended"
    onClose={() => {
      isExpiredHidden.value = true;
    }}
  >
    <SignIn why="Sign in again to go on where you are. Nothing that you typed is lost." isFirst />
  </Dialog>
);

function NotAllowed({ title }: { title: string }) {
  if (session.value === undefined)
    return isReachable.value ? <Busy what="Loading" /> : <SignIn why="The gateway must answer first." />;
  if (session.value === null) {
    return (
      <>
        <h1>{title}</h1>
        <SignIn why="Look-ups in the page need no sign-in. All else does." />
      </>
    );
  }
  return (
    <>
      <h1>{title}</h1>
      <p class="box warn">Your role, {session.value.scope}, does not include this page.</p>
    </>
  );
}

/** A page that fails says so, and leaves the rest of the console as it is. */
class Guard extends Component<{ children: ComponentChildren }, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static override getDerivedStateFromError() {
    return { hasFailed: true };
  }

  render() {
    if (!this.state.hasFailed) return this.props.children;
    const problem = { slug: "defect", title: "This page has a fault", detail: DEFECT, status: 0, members: {} };
    return <ProblemBox problem={problem} onRetry={() => this.setState({ hasFailed: false })} />;
  }
}

const DEFECT = "This page could not be put together. Other pages work.";

function Body({ page }: { page: PageName }) {
  if (page === "look-up") {
    return (
      <>
        <LookUp />
        {session.value === null && <SignIn why="Look-ups in the page need no sign-in. All else does." />}
      </>
    );
  }
  return <Later page={page} />;
}

function Later({ page }: { page: PageName }) {
  const [Loaded, setLoaded] = useState<{ readonly Own: ComponentType }>();
  const [hasFailed, setFailed] = useState(false);
  const load = () => {
    setFailed(false);
    LOADERS[page]?.().then(
      (Own) => setLoaded({ Own }),
      () => setFailed(true),
    );
  };
  useEffect(load, [page]);
  if (Loaded) return <Loaded.Own />;
  if (!hasFailed) return <Busy what="Loading the page" />;
  const problem = { slug: "unreachable", title: "This page could not be loaded", detail: "", status: 0, members: {} };
  return <ProblemBox problem={problem} onRetry={load} />;
}
