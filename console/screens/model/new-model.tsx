import { Button } from "../../parts/button.tsx";
import { Link } from "../../parts/link.tsx";
import { Page } from "../../parts/page.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { useDraft } from "../../shell/draft.ts";
import { go, hrefOf, itemName, query, screenName } from "../../shell/router.ts";
import { say } from "../../shell/toasts.tsx";
import { useCheck } from "./check.ts";
import { Editor } from "./editor.tsx";
import { Overwrite } from "./overwrite.tsx";
import { NEW } from "./read.ts";
import { untilTaken, useSaving } from "./save.ts";
import { starterFor } from "./starter.ts";

/** Writes a model of the operator's own, beginning with one that works. */
export function NewModel() {
  const { provider = "" } = query.value;
  const start = starterFor(/^[a-z][a-z0-9-]*$/.test(provider) ? provider : "sandbox");
  const draft = useDraft("models/new", { text: start });
  const { text } = draft.fields;
  const check = useCheck(text);
  const saving = useSaving({ text, base: "" }, async ({ model, file }) => {
    await untilTaken(model);
    draft.clear();
    say(`${model} is saved in ${file}.`);
    // The reader may have gone elsewhere in the meantime.
    if (screenName.peek() === "models" && itemName.peek() === NEW) go(hrefOf("models", model));
  });
  const save = () => {
    if (!saving.isBusy) void saving.save();
  };
  return (
    <Page title="Write a model">
      <p>
        <Link href={hrefOf("models")}>← All models</Link>
      </p>
      <p class="max-w-prose text-soft">
        A model is a page of YAML: its fields, its price, and the ways to providers. It is checked as you
        type, and saved in the folder <code class="font-mono">models</code> of the data folder.
      </p>
      <Editor
        label="The new model, YAML"
        text={text}
        check={check}
        isFixed={saving.isBusy}
        onText={(typed) => draft.set({ text: typed })}
        onSave={save}
      />
      {check.problem !== undefined && <Trouble problem={check.problem} />}
      {saving.problem !== undefined && <Trouble problem={saving.problem} />}
      {saving.isOther && (
        <Overwrite
          title="There is a model of yours with this id already"
          onMine={() => void saving.save(true)}
        >
          It was not saved. Choose another id, or put this text in the place of that model's.
        </Overwrite>
      )}
      <div class="flex flex-wrap gap-2">
        <Button look="main" isBusy={saving.isBusy} onClick={save}>
          Save
        </Button>
        {text !== start && (
          <Button look="quiet" onClick={draft.clear}>
            Begin anew
          </Button>
        )}
      </div>
    </Page>
  );
}
