import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { Button } from "../../parts/button.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { useDraft } from "../../shell/draft.ts";
import { go, hrefOf } from "../../shell/router.ts";
import { may } from "../../shell/scopes.ts";
import { say } from "../../shell/toasts.tsx";
import { useCheck } from "./check.ts";
import { Editor } from "./editor.tsx";
import { Overwrite } from "./overwrite.tsx";
import type { Manifest } from "./read.ts";
import { useSaving } from "./save.ts";

interface Props {
  readonly manifest: Manifest;
  /** Reads it anew. */
  readonly again: () => void;
  readonly onSaved: (manifest: Manifest) => void;
}

/** The file of a model of the operator's own. Without the right to write it, it is read. */
export function OwnFile(props: Props) {
  if (!may("system")) return <CodeBlock label={props.manifest.file} text={props.manifest.text} />;
  return <EditedFile {...props} />;
}

function EditedFile({ manifest, again, onSaved }: Props) {
  const { model, file } = manifest;
  const draft = useDraft(`models/${model}`, { text: manifest.text, base: manifest.text });
  const { text, base } = draft.fields;
  const isTyped = text !== manifest.text;
  const check = useCheck(text);
  const saving = useSaving({ model, text, base }, (written) => {
    onSaved({ model, file: written.file, text });
    draft.clear();
    say(`Saved in ${written.file}. The server takes it up within two seconds.`);
  });
  const save = () => {
    if (isTyped && !saving.isBusy) void saving.save();
  };
  const giveUp = () => {
    saving.forget();
    draft.clear();
  };
  return (
    <div class="flex min-w-0 flex-col gap-3">
      <p class="text-soft">
        <code class="font-mono break-all">{file}</code> in the data folder. It is saved as a whole, and
        nothing has to be restarted.
      </p>
      <Editor
        label={`${file}, YAML`}
        text={text}
        check={check}
        isFixed={saving.isBusy}
        // What it began with stays with what was typed, so that another writer is noticed.
        onText={(typed) => draft.set({ text: typed, base })}
        onSave={save}
      />
      {check.problem !== undefined && <Trouble problem={check.problem} />}
      {saving.problem !== undefined && <Trouble problem={saving.problem} />}
      {saving.isOther && (
        <Overwrite
          title={`${file} is another one by now`}
          onTheirs={() => {
            giveUp();
            again();
          }}
          onMine={() => void saving.save(true)}
        >
          It was written elsewhere since you began. What you typed is still here; it was not saved.
        </Overwrite>
      )}
      <Buttons manifest={manifest} isTyped={isTyped} isBusy={saving.isBusy} onSave={save} onGiveUp={giveUp} />
    </div>
  );
}

interface ButtonsProps extends Pick<Props, "manifest"> {
  readonly isTyped: boolean;
  readonly isBusy: boolean;
  readonly onSave: () => void;
  readonly onGiveUp: () => void;
}

function Buttons({ manifest, isTyped, isBusy, onSave, onGiveUp }: ButtonsProps) {
  const [isRemoving, setRemoving] = useState(false);
  return (
    <div class="flex flex-wrap gap-2">
      <Button look="main" isBusy={isBusy} disabled={!isTyped} onClick={onSave}>
        Save
      </Button>
      {isTyped && (
        <Button look="quiet" onClick={onGiveUp}>
          Undo my changes
        </Button>
      )}
      <Button look="danger" onClick={() => setRemoving(true)}>
        Remove this model
      </Button>
      {isRemoving && (
        <Remove
          manifest={manifest}
          onRemoved={() => {
            onGiveUp();
            go(hrefOf("models"));
          }}
          onClose={() => setRemoving(false)}
        />
      )}
    </div>
  );
}

interface RemoveProps {
  readonly manifest: Manifest;
  readonly onRemoved: () => void;
  readonly onClose: () => void;
}

function Remove({ manifest: { model, file }, onRemoved, onClose }: RemoveProps) {
  const remove = async () => {
    await ask("DELETE /admin/v1/models/{model}/manifest", { path: { model } });
    say(`${model} is removed. The server follows within two seconds.`);
    onRemoved();
  };
  return (
    <Confirm title={`Remove ${model}?`} action="Remove it" onYes={remove} onClose={onClose}>
      <p>
        <code class="font-mono break-all">{file}</code> is deleted. New tasks of the model are refused, unless
        it took the place of a built-in one, which is back then. Tasks that a provider has go on.
      </p>
    </Confirm>
  );
}
