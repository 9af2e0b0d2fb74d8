import "./style/console.css";
import { render } from "preact";
import { watchConnection, watchUse } from "./app/api.ts";
import { App } from "./app/app.tsx";
import { watchForce } from "./app/force.ts";
import { watchKeys } from "./app/frame/keys.tsx";
import { watchPlace } from "./app/router.ts";
import { loadSession } from "./app/session.ts";
import { keepSettings } from "./app/settings.ts";
import { watchTrouble } from "./app/trouble.ts";
import { keepTyped } from "./app/typed.ts";
import { mendLanguage } from "./app/words.ts";

/** The console: a page of the gateway on the same core. */

mendLanguage(navigator);
keepSettings();
keepTyped();
watchPlace();
watchKeys();
watchUse();
watchConnection();
watchForce();
watchTrouble();
const root = document.getElementById("app");
if (root === null) throw new Error("the page has no place for the console");
render(<App />, root);
void loadSession();
