import { useEffect, useState } from "preact/hooks";
import { useChanges, useReading } from "../../api/use.ts";
import { Empty } from "../../parts/empty.tsx";
import { Page, Reading } from "../../parts/page.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { query, setQuery } from "../../shell/router.ts";
import type { ScreenProps } from "../../shell/screen-props.ts";
import { say } from "../../shell/toasts.tsx";
import { modelsOf, valuesOf } from "./address.ts";
import { chosen, openDraft, setValue, values } from "./draft.ts";
import { giveFiles } from "./media-field.tsx";
import { ModelPicker } from "./model-picker.tsx";
import { type ListedModel, readModel, readModels } from "./models.ts";
import { type ModelInFull, mediaIn } from "./request.ts";
import { RunList } from "./run-list.tsx";
import { catchUp, note, recall, resume } from "./runs.ts";
import { useResult } from "./take-result.ts";
import { Workbench } from "./workbench.tsx";

/** Try models by hand: a form from the model's own schema, the price while typing, the way it goes, and the result. */
export function Screen(_: ScreenProps) {
  useBeginning();
  const listed = useReading("models", readModels);
  const ids = useChosen(listed.data);
  useResult(listed.data, choose);
  useChanges("GET /v1/events", {}, listed, ({ data }) => note(data));
  useFiles();
  // What changed while the service was away is read when its models are.
  useEffect(() => {
    if (listed.data !== undefined) catchUp();
  }, [listed.data]);
  const { data, problem } = listed;
  const nameOf = (id: string) => data?.find((model) => model.id === id)?.name ?? id;
  return (
    <Page title="Playground">
      {problem !== undefined && <Trouble problem={problem} again={listed.again} />}
      {data === undefined && problem === undefined && <Reading what="the models" />}
      {data?.length === 0 && (
        <Empty title="No model can be used">
          A model appears here as soon as a provider that makes it is switched on and the key may use it.
          Whoever manages this service sees under Models what each one needs.
        </Empty>
      )}
      {data !== undefined && data.length > 0 && (
        <div class="grid min-w-0 grid-cols-1 gap-6 lg:grid-cols-[minmax(0,27rem)_minmax(0,1fr)] 2xl:grid-cols-[minmax(0,34rem)_minmax(0,1fr)]">
          <div class="flex min-w-0 flex-col gap-4">
            <ModelPicker models={data} chosen={ids} onChosen={choose} />
            <Chosen ids={ids} listed={data} />
          </div>
          <section
            aria-label="Results"
            class="min-w-0 lg:sticky lg:top-0 lg:max-h-dvh lg:self-start lg:overflow-y-auto lg:py-1"
          >
            <RunList nameOf={nameOf} onUse={(url, taskId) => giveResult(url, taskId)} />
          </section>
        </div>
      )}
    </Page>
  );
}

function choose(ids: readonly string[]): void {
  chosen.value = ids;
  setQuery({ model: ids.join(",") });
}

/** Takes up the draft, and what the address brings. */
function useBeginning(): void {
  const [isBegun, setBegun] = useState(false);
  if (!isBegun) {
    openDraft();
    setBegun(true);
  }
  useEffect(() => {
    resume();
    const { from, with: given } = query.peek();
    const brought = valuesOf(given);
    if (brought !== undefined) {
      values.value = brought;
      setQuery({ with: undefined });
    }
    if (from === undefined) return;
    setQuery({ from: undefined });
    recall(from, readModel).then(
      (found) => {
        values.value = found.values;
        choose([found.model]);
        say("The settings of that task are in the form.");
      },
      (error: unknown) =>
        say(`That task cannot be taken up: ${error instanceof Error ? error.message : error}`, "failed"),
    );
  }, []);
}

/** The address decides about the models, then the draft, then the first model there is. */
function useChosen(listed: readonly ListedModel[] | undefined): readonly string[] {
  const named = modelsOf(query.value.model);
  const first = listed?.[0]?.id;
  const before = chosen.value;
  const ids = named.length > 0 ? named : before.length > 0 ? before : first === undefined ? [] : [first];
  const text = ids.join(",");
  useEffect(() => {
    if (text === "" || listed === undefined) return;
    chosen.value = modelsOf(text);
    if (query.peek().model !== text) setQuery({ model: text });
  }, [text, listed]);
  return ids;
}

/** Files that are pasted or dropped anywhere go to the field that takes them; none makes the browser leave the page. */
function useFiles(): void {
  useEffect(() => {
    const over = (event: DragEvent) => event.preventDefault();
    const drop = (event: DragEvent) => {
      event.preventDefault();
      giveFiles([...(event.dataTransfer?.files ?? [])]);
    };
    const paste = (event: ClipboardEvent) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length > 0 && document.querySelector("dialog[open]") === null && giveFiles(files))
        event.preventDefault();
    };
    document.addEventListener("dragover", over);
    document.addEventListener("drop", drop);
    document.addEventListener("paste", paste);
    return () => {
      document.removeEventListener("dragover", over);
      document.removeEventListener("drop", drop);
      document.removeEventListener("paste", paste);
    };
  }, []);
}

/** Puts a result where the form takes a picture. */
function giveResult(url: string, taskId: string): void {
  const place = document.querySelector<HTMLElement>('main [data-drop][data-kind="image"]');
  const name = place?.dataset.drop;
  if (place == null || name === undefined) {
    say("The model takes no picture. Choose one that does.", "failed");
    return;
  }
  const isList = place.dataset.list === "true";
  const media = { uri: url, name: `…${taskId.slice(-8)}`, isShown: true };
  setValue(name, isList ? [...mediaIn(values.peek()[name]), media] : [media]);
  place.scrollIntoView({ block: "center" });
  say(`It is given as ${name}.`);
}

/** The form of the chosen models, once their schemas are read. */
function Chosen({
  ids,
  listed,
}: {
  readonly ids: readonly string[];
  readonly listed: readonly ListedModel[];
}) {
  const about = ids.join(",");
  const reading = useReading(`models ${about}`, (signal) =>
    Promise.all(ids.map((id) => readModel(id, signal).catch((problem: unknown) => ({ id, problem })))),
  );
  const { data, problem } = reading;
  if (problem !== undefined) return <Trouble problem={problem} again={reading.again} />;
  if (data === undefined) return <Reading what="what the model takes" />;
  const gone = data.filter((each) => "problem" in each);
  const models = data.filter((each): each is ModelInFull => !("problem" in each));
  return (
    <>
      {gone.map((each) => (
        <div key={each.id} class="flex flex-col gap-2">
          <Trouble problem={each.problem} again={reading.again} />
          <p>
            {listed.some(({ id }) => id === each.id)
              ? "Try again, or choose another model above."
              : `${each.id} is not there any more, or was never. Choose another model above: what you gave stays.`}
          </p>
        </div>
      ))}
      {models.length > 0 && <Workbench models={models} />}
    </>
  );
}
