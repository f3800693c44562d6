import type { ComponentChildren } from "preact";
import { Button } from "../../parts/button.tsx";

interface Props {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Absent where there is nothing of theirs to go on with here. */
  readonly onTheirs?: () => void;
  readonly onMine: () => void;
}

/** Somebody else wrote the file in the meantime: nothing of either is lost unless the reader says so. */
export function Overwrite({ title, children, onTheirs, onMine }: Props) {
  return (
    <div role="alert" class="rounded-xl border border-warn bg-card p-4">
      <p class="font-medium wrap-anywhere text-warn">{title}</p>
      <p class="mt-1">{children}</p>
      <div class="mt-3 flex flex-wrap gap-2">
        <Button look="danger" onClick={onMine}>
          Save mine in its place
        </Button>
        {onTheirs !== undefined && <Button onClick={onTheirs}>Give mine up and read theirs</Button>}
      </div>
    </div>
  );
}
