import "./style.css";
import { render } from "preact";
import { App, start, startLinks } from "./shell/app.tsx";
import { startKeys } from "./shell/keys.ts";
import { startRouter } from "./shell/router.ts";
import { startTheme } from "./shell/theme.ts";

startTheme();
startRouter();
startKeys();
startLinks();
render(<App />, document.getElementById("console") ?? document.body);
void start();
