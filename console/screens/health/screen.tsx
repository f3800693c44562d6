import { Page, Section } from "../../parts/page.tsx";
import { Backups } from "./backups.tsx";
import { Books } from "./books.tsx";
import { DatabaseCheck } from "./database.tsx";
import { Files } from "./files.tsx";
import { OverTime } from "./over-time.tsx";
import { Present } from "./present.tsx";
import { Verdict } from "./verdict.tsx";

/** How the service does: whether all is well, what it does now, how it has done, and what can be looked at closer. */
export function Screen() {
  return (
    <Page title="Health">
      <div class="flex min-w-0 flex-col gap-6">
        <Verdict />
        <Present />
        <OverTime />
        <Section title="A closer look">
          <div class="grid min-w-0 grid-cols-1 items-start gap-3 xl:grid-cols-3">
            <Books />
            <DatabaseCheck />
            <Files />
          </div>
        </Section>
        <Backups />
      </div>
    </Page>
  );
}
