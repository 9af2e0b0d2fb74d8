import { render } from "preact";

/** Until the pages are there. */
const app = document.getElementById("app");
if (app !== null) {
  app.textContent = "";
  render(<p>The console of this gateway.</p>, app);
}
