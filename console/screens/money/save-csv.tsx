import { Button } from "../../parts/button.tsx";
import { saveCsv } from "../../parts/save.ts";
import { csvOf } from "./csv.ts";
import type { Figures, UsageRow } from "./figures.ts";

interface Props {
  readonly by: string;
  readonly figures: Figures;
  readonly rows: readonly UsageRow[];
}

/** A table for other programs. */
export function SaveCsv({ by, figures: { since, until }, rows }: Props) {
  return (
    <div>
      <Button onClick={() => saveCsv(`usage-by-${by}-${since}-to-${until}.csv`, csvOf(rows))}>
        Save as CSV
      </Button>
    </div>
  );
}
