import { Component, type ComponentChildren, type ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { isReachable } from "../api.ts";
import { mayOpen, type Page } from "../pages.ts";
import { Button } from "../parts/button.tsx";
import { Empty, Note, PageHead, Sheet, Skeleton } from "../parts/sheet.tsx";
import { fragmentOf, isNowhere } from "../router.ts";
import { type Session, session } from "../session.ts";

/** The page that is open, or why there is none. */
export function Body({ page }: { page: Page }) {
  const own = session.value;
  if (own && !mayOpen(page)) return <NotAllowed page={page} own={own} />;
  // Signed out the sign-in page is in its place: here it is not known yet.
  if (!mayOpen(page) || (own === undefined && isNowhere.value)) return <Loading title={page.title} />;
  return (
    <Boundary key={page.name} title={page.title}>
      <Later page={page} />
    </Boundary>
  );
}

const Loading = ({ title }: { title: string }) => (
  <>
    <PageHead title={title} />
    <section class="sheet">
      <Skeleton label="Loading the page" lines={8} />
    </section>
  </>
);

const NotAllowed = ({ page, own }: { page: Page; own: Session }) => (
  <>
    <PageHead title={page.title} />
    <Sheet title="Not for this role">
      <Empty
        icon="lock"
        title={`${page.title}: for viewers and operators`}
        actions={
          <Button href={fragmentOf("look-up")} icon="look-up">
            Look up
          </Button>
        }
      >
        You are signed in as {own.name} with the role {own.scope}. You can look up IDs and ask where they go.
      </Empty>
    </Sheet>
  </>
);

/** A page or a part that fails says so, and leaves the rest of the console as it is. */
export class Boundary extends Component<
  { title: string; children: ComponentChildren },
  { readonly hasFailed: boolean }
> {
  override state = { hasFailed: false };

  static override getDerivedStateFromError() {
    return { hasFailed: true };
  }

  render() {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <Note
        kind="bad"
        isTop
        isAlert
        title={`${this.props.title} cannot be shown`}
        aside={
          <Button size="small" onClick={() => this.setState({ hasFailed: false })}>
            Try again
          </Button>
        }
      >
        This part has a fault of its own. All others work, and what you typed is kept.
      </Note>
    );
  }
}

function Later({ page }: { page: Page }) {
  const [Loaded, setLoaded] = useState<{ readonly Own: ComponentType }>();
  const [hasFailed, setFailed] = useState(false);
  const load = async () => {
    setFailed(false);
    try {
      const Own = await page.load();
      setLoaded({ Own });
    } catch {
      setFailed(true);
    }
  };
  useEffect(() => void load(), [page.name]);
  if (Loaded) return <Loaded.Own />;
  if (!hasFailed) return <Loading title={page.title} />;
  return (
    <>
      <PageHead title={page.title} />
      <Note
        kind="bad"
        isTop
        isAlert
        title="This page could not be loaded"
        actions={
          <>
            <Button size="small" onClick={() => void load()}>
              Try again
            </Button>
            <Button size="small" onClick={() => location.reload()}>
              Load the console anew
            </Button>
          </>
        }
      >
        {isReachable.value
          ? "Its file is not there: the gateway may have been updated since the console was opened."
          : "The gateway does not answer. Pages that were open before work."}{" "}
        What you typed is kept.
      </Note>
    </>
  );
}
