/** @jsxImportSource preact */
/* A page that shows parts which no model screen needs, for parts.test.ts. */
import "../../../console/style.css";
import { render } from "preact";
import { Plot } from "../../../console/parts/plot.tsx";
import { startTheme } from "../../../console/shell/theme.ts";

const DAYS = [1_795_000_000, 1_795_086_400, 1_795_172_800];

function Page() {
  return (
    <main>
      <h1>Parts</h1>
      <Plot label="Spend by day" lines={["spent", "charged"]} data={[DAYS, [1, 3, 2], [2, 4, 3]]} />
    </main>
  );
}

startTheme();
render(<Page />, document.getElementById("console") ?? document.body);
