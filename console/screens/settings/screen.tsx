import { useLayoutEffect, useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import type { Schemas } from "../../api/published.d.ts";
import { useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { counted } from "../../parts/count.ts";
import { Empty } from "../../parts/empty.tsx";
import { Link } from "../../parts/link.tsx";
import { Page, Reading, Section } from "../../parts/page.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf, query, setQuery } from "../../shell/router.ts";
import { may } from "../../shell/scopes.ts";
import { Filters } from "./filters.tsx";
import { type Filters as Chosen, filtersOf, fitting, grouped, type Setting } from "./list.ts";
import { LogLevel } from "./log-level.tsx";
import { ReloadResult } from "./reload.tsx";
import { SettingRow } from "./setting-row.tsx";

/** Every setting that the service runs with, where it was given, and when a change takes effect. */
export function Screen() {
  const filters = filtersOf(query.value);
  const [words, setWords] = useState(filters.q);
  // A link may lead to other words. After the next frame would be too late: it would undo what was typed until then.
  useLayoutEffect(() => setWords(filters.q), [filters.q]);
  const { data, problem, again } = useReading("settings", (signal) =>
    ask("GET /admin/v1/config", {}, { signal }),
  );
  const reload = useReload(again);
  const settings = data?.settings ?? [];
  return (
    <Page
      title="Settings"
      actions={
        <>
          <Link href={hrefOf("changes", "", { object: "settings" })}>Who changed what</Link>
          {may("system") && (
            <Button isBusy={reload.isBusy} onClick={() => void reload.start()}>
              Reload
            </Button>
          )}
        </>
      }
    >
      {reload.problem !== undefined && <Trouble problem={reload.problem} />}
      {reload.result !== undefined && <ReloadResult reloaded={reload.result} settings={settings} />}
      <LogLevel />
      <Filters filters={filters} words={words} onWords={setWords} />
      {problem !== undefined && <Trouble problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Reading what="the settings" />}
      {data !== undefined && (
        <List
          settings={settings}
          filters={{ ...filters, q: words }}
          onAll={() => {
            setWords("");
            setQuery({ q: "", from: "", takes: "" });
          }}
        />
      )}
    </Page>
  );
}

/** Has the service read its settings anew. @param onDone reads them for this page */
function useReload(onDone: () => void) {
  const [result, setResult] = useState<Schemas["ReloadedSettings"]>();
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  return {
    ...{ result, problem, isBusy },
    async start() {
      setBusy(true);
      setProblem(undefined);
      setResult(undefined);
      try {
        setResult(await ask("POST /admin/v1/reload", {}));
        onDone();
      } catch (error) {
        setProblem(error);
      } finally {
        setBusy(false);
      }
    },
  };
}

function List({
  settings,
  filters,
  onAll,
}: {
  readonly settings: readonly Setting[];
  readonly filters: Chosen;
  readonly onAll: () => void;
}) {
  const shown = fitting(settings, filters);
  const isAll = shown.length === settings.length;
  return (
    <>
      <p role="status" class="text-sm text-soft">
        {isAll
          ? counted(settings.length, "setting")
          : `${shown.length} of ${counted(settings.length, "setting")}`}
      </p>
      {shown.length === 0 && (
        <Empty title="No setting is like that">
          <Button onClick={onAll}>Show all settings</Button>
        </Empty>
      )}
      {grouped(shown).map(({ title, settings: some }) => (
        <Section key={title} title={title}>
          <ul aria-label={`Settings: ${title}`} class="flex flex-col rounded-xl border border-line bg-card">
            {some.map((setting) => (
              <SettingRow key={setting.key} setting={setting} />
            ))}
          </ul>
        </Section>
      ))}
      <p class="max-w-prose text-sm text-soft">
        A name is a place in <code class="font-mono text-ink">svc.yaml</code>:{" "}
        <code class="font-mono text-ink">log.level</code> is <code class="font-mono text-ink">level</code>{" "}
        below <code class="font-mono text-ink">log</code>. The service takes a changed file up by itself
        within three seconds; what needs a restart waits for one. Flags come before variables, variables
        before the file. <code class="font-mono text-ink">svc help settings</code> lists all of them. Secrets
        never leave the service; the names of their variables do.
      </p>
    </>
  );
}
