import { useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { isLike, type ListedModel, MOST_MODELS, priceText } from "./models.ts";

interface Props {
  readonly models: readonly ListedModel[];
  readonly chosen: readonly string[];
  readonly onChosen: (ids: readonly string[]) => void;
}

/** The models that a request is given to. The first one's form is shown; the others are compared with it. */
export function ModelPicker({ models, chosen, onChosen }: Props) {
  const [asks, setAsks] = useState<number>();
  const nameOf = (id: string) => models.find((model) => model.id === id)?.name ?? id;
  const choose = (id: string) => {
    const others = chosen.filter((each, at) => each !== id && at !== asks);
    onChosen(asks === 0 ? [id, ...others] : [...others, id]);
    setAsks(undefined);
  };
  return (
    <div class="flex flex-wrap items-center gap-2">
      <ul class="contents">
        {chosen.map((id, at) => (
          <li key={id} class="flex max-w-full min-w-0 items-center rounded-lg border border-edge bg-card">
            <button
              type="button"
              class="min-h-9 truncate px-3 font-medium"
              aria-label={`Model ${at + 1}: ${nameOf(id)}. Change it`}
              onClick={() => setAsks(at)}
            >
              {nameOf(id)} <span aria-hidden="true">▾</span>
            </button>
            {chosen.length > 1 && (
              <button
                type="button"
                class="min-h-9 border-l border-line px-2.5 text-soft hover:text-ink"
                aria-label={`Compare without ${nameOf(id)}`}
                onClick={() => onChosen(chosen.filter((each) => each !== id))}
              >
                ×
              </button>
            )}
          </li>
        ))}
      </ul>
      {chosen.length < MOST_MODELS && models.length > 1 && (
        <Button look="quiet" onClick={() => setAsks(chosen.length)}>
          + Compare with another
        </Button>
      )}
      {asks !== undefined && (
        <Models models={models} chosen={chosen} onChoice={choose} onClose={() => setAsks(undefined)} />
      )}
    </div>
  );
}

interface ModelsProps {
  readonly models: readonly ListedModel[];
  readonly chosen: readonly string[];
  readonly onChoice: (id: string) => void;
  readonly onClose: () => void;
}

function Models({ models, chosen, onChoice, onClose }: ModelsProps) {
  const [search, setSearch] = useState("");
  const found = models.filter((model) => isLike(model, search));
  return (
    <Dialog title="Choose a model" onClose={onClose}>
      <Field
        label="Find"
        hidesLabel
        type="search"
        placeholder="Name, kind or mode"
        value={search}
        onText={setSearch}
      />
      <p role="status" class="mt-1 text-sm text-soft">
        {found.length} of {models.length} models
      </p>
      <ul class="mt-2 flex flex-col gap-1">
        {found.map((model) => (
          <li key={model.id}>
            <button
              type="button"
              data-model={model.id}
              aria-pressed={chosen.includes(model.id)}
              class="flex w-full flex-col rounded-lg border border-line px-3 py-2 text-left hover:border-accent aria-pressed:border-accent"
              onClick={() => onChoice(model.id)}
            >
              <span class="flex flex-wrap items-baseline gap-x-3">
                <span class="font-medium">{model.name}</span>
                <code class="font-mono text-sm text-soft">{model.id}</code>
                <span class="ml-auto text-sm text-soft">{priceText(model)}</span>
              </span>
              <span class="text-sm text-soft">{model.modes.join(" · ")}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
