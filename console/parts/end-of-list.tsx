import type { More } from "../api/more.ts";
import { Button } from "./button.tsx";
import { Reading } from "./page.tsx";
import { Trouble } from "./trouble.tsx";

interface Props {
  readonly what: string;
  readonly more: More;
  /** How many rows there are beyond those that are shown, as far as the list was read. */
  readonly hidden: number;
  /** Whether all of the list was read. */
  readonly isWhole: boolean;
  readonly onMore: () => void;
}

/** What stands below a list of which a part is shown. */
export function EndOfList({ what, more, hidden, isWhole, onMore }: Props) {
  if (more.problem !== undefined) return <Trouble problem={more.problem} again={more.readAnyway} />;
  if (more.isReading) return <Reading what={`more ${what}`} />;
  if (hidden === 0 && isWhole) return null;
  return (
    <div class="text-center">
      <Button onClick={onMore}>{isWhole ? `Show more: ${hidden} are left` : "Show more"}</Button>
    </div>
  );
}
