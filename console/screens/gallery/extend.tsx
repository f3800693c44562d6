import { useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Choice } from "../../parts/field.tsx";
import { type ListedModel, priceText } from "../playground/models.ts";

interface Props {
  /** Models that can, of which there is one at least. */
  readonly models: readonly ListedModel[];
  /** The one that made the film and cannot. */
  readonly maker: string;
  readonly onModel: (id: string) => void;
  readonly onClose: () => void;
}

/** Asks which model goes on where a film ends, because the one that made it cannot: another one has another price. */
export function ExtendDialog({ models, maker, onModel, onClose }: Props) {
  const [id, setId] = useState(models[0]?.id ?? "");
  return (
    <Dialog title="Go on from its end" onClose={onClose}>
      <form
        class="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          onModel(id);
        }}
      >
        <p>{maker} cannot go on where a film ends. These models can:</p>
        <Choice
          label="Model"
          value={id}
          choices={models.map((model) => [model.id, `${model.name}, ${priceText(model)}`])}
          onChoice={setId}
        />
        <div>
          <Button look="main" type="submit" isOnce>
            Make it
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
