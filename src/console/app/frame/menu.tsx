import { useState } from "preact/hooks";
import { Button, Segments } from "../parts/button.tsx";
import { Icon } from "../parts/icons.tsx";
import { refreshSession, type Session, signOut } from "../session.ts";
import { type TextSize, type Theme, textSize, theme } from "../settings.ts";
import { endText } from "../words.ts";

const MENU = "user-menu";

/** The name of the signed-in one, the end of the session, and the looks of the console. */
export function UserMenu({ own }: { own: Session }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="me" popovertarget={MENU} aria-describedby={`${MENU}-about`} aria-expanded={isOpen}>
        <span class="avatar" aria-hidden="true">
          {own.name.slice(0, 2)}
        </span>
        <span class="who">{own.name}</span>
        <Icon name="chevron" />
      </button>
      <span hidden id={`${MENU}-about`}>
        {own.scope}: theme, text size, sign out
      </span>
      <div
        id={MENU}
        class="menu"
        popover="auto"
        role="dialog"
        aria-label="Settings"
        // Before it shows, so that the next Tab finds its content; until it is gone, so that the button gets the focus back.
        onBeforeToggle={({ newState }) => {
          if (newState !== "open") return;
          setOpen(true);
          void refreshSession();
        }}
        onToggle={({ newState }) => setOpen(newState === "open")}
      >
        {isOpen && <Menu own={own} />}
      </div>
    </>
  );
}

const Menu = ({ own }: { own: Session }) => (
  <>
    <div>
      <div class="row">
        <span class="avatar" aria-hidden="true">
          {own.name.slice(0, 2)}
        </span>
        <span>
          <b>{own.name}</b>
          <br />
          <small>
            {SIGNED_IN[own.by] ?? "Signed in"} · {own.scope}
          </small>
        </span>
      </div>
      <small>{endText(own)}</small>
    </div>
    <div>
      <Segments
        label="Theme"
        isLabelled
        value={theme.value}
        options={[
          ["system", "System"],
          ["light", "Light"],
          ["dark", "Dark"],
        ]}
        onChange={(value: Theme) => {
          theme.value = value;
        }}
      />
      <Segments
        label="Text"
        isLabelled
        value={textSize.value}
        options={[
          ["small", "Small"],
          ["normal", "Normal"],
          ["large", "Large"],
        ]}
        onChange={(value: TextSize) => {
          textSize.value = value;
        }}
      />
    </div>
    <div>
      <Button icon="sign-out" onClick={() => void signOut()}>
        Sign out
      </Button>
    </div>
  </>
);

const SIGNED_IN: Readonly<Record<string, string>> = {
  session: "Signed in by token",
  token: "Signed in by token",
  access: "Signed in by Cloudflare Access",
  "open-pages": "Open to all who reach the gateway",
};
