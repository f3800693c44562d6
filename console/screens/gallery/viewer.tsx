import { useEffect, useRef } from "preact/hooks";
import { fileUrl } from "../../api/files.ts";
import type { Role } from "../../api/session.ts";
import { useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Reading } from "../../parts/page.tsx";
import { Status } from "../../parts/status.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { setQuery } from "../../shell/router.ts";
import { readTrace, type Trace } from "../task/read.ts";
import { About } from "./about.tsx";
import type { Item } from "./list.ts";
import { nameOf } from "./tile.tsx";

interface Props {
  readonly role: Role;
  /** Of the result: `task_….0`. */
  readonly id: string;
  /** What the grid has; the result may be beyond it, where a link led here. */
  readonly items: readonly Item[];
  readonly onEnd: () => void;
  readonly onDeleted: (task: string) => void;
}

/** One result as large as the window allows, with all about it. Arrow keys go to its neighbours. */
export function Viewer({ role, id, items, onEnd, onDeleted }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [task = "", index = "0"] = id.split(".");
  const reading = useReading(task, (signal) => readTrace(role, task, signal));
  const at = items.findIndex((item) => item.id === id);
  const [before, after] = at < 0 ? [] : [items[at - 1], items[at + 1]];
  useModal(dialog, id);
  // biome-ignore lint/correctness/useExhaustiveDependencies: at each step
  useEffect(() => {
    if (at >= 0 && at + 3 > items.length) onEnd();
  }, [at, items.length]);
  const remove = () => {
    onDeleted(task);
    show(neighbourOf(task, items));
  };
  const item = items[at];
  const { data, problem } = reading;
  return (
    <dialog
      ref={dialog}
      aria-label={item === undefined ? "Result" : nameOf(item)}
      class="m-0 h-dvh max-h-none w-full max-w-none overflow-y-auto bg-page text-ink lg:overflow-hidden"
      onCancel={(event) => {
        // Those of dialogs within it are theirs.
        if (event.target !== dialog.current) return;
        event.preventDefault();
        show(undefined);
      }}
      onKeyDown={(event) => {
        if (!isForViewer(event, dialog.current)) return;
        const next = { ArrowLeft: before, ArrowRight: after }[event.key];
        if (next !== undefined) show(next.id);
      }}
    >
      <div class="flex min-h-full flex-col lg:h-full lg:flex-row">
        <div class="flex min-h-[55dvh] min-w-0 grow flex-col gap-2 p-3 lg:min-h-0">
          <Steps
            place={at < 0 ? "" : `${at + 1} of ${items.length}`}
            back={before && (() => show(before.id))}
            on={after && (() => show(after.id))}
          />
          <div class="flex min-h-0 grow items-center justify-center">
            {data !== undefined && <Media key={id} trace={data} index={Number(index)} />}
            {data === undefined && problem === undefined && <Reading what="the result" />}
            {problem !== undefined && <Trouble problem={problem} again={reading.again} />}
          </div>
        </div>
        <aside
          aria-label="About this result"
          class="min-w-0 shrink-0 border-t border-line bg-card p-4 lg:w-96 lg:overflow-y-auto lg:border-t-0 lg:border-l"
        >
          {data !== undefined && (
            <About key={task} role={role} trace={data} index={Number(index)} onDeleted={remove} />
          )}
        </aside>
      </div>
    </dialog>
  );
}

/** What takes a deleted task's place in the viewer: what follows it, or else what was before it. */
function neighbourOf(task: string, items: readonly Item[]): string | undefined {
  const others = items.filter((item) => item.task !== task);
  const place = items.findIndex((item) => item.task === task);
  return place < 0 ? undefined : others[Math.min(place, others.length - 1)]?.id;
}

interface StepsProps {
  /** Which of how many it is. */
  readonly place: string;
  readonly back: (() => void) | undefined;
  readonly on: (() => void) | undefined;
}

/** The ways to the neighbours, and out. */
function Steps({ place, back, on }: StepsProps) {
  return (
    <div class="flex items-center gap-2">
      <Button aria-label="Previous result" disabled={back === undefined} onClick={back}>
        ←
      </Button>
      <Button aria-label="Next result" disabled={on === undefined} onClick={on}>
        →
      </Button>
      <span role="status" class="grow truncate text-sm text-soft">
        {place}
      </span>
      <Button onClick={() => show(undefined)}>Close</Button>
    </div>
  );
}

/** Shows a result, or closes the viewer. */
function show(id: string | undefined): void {
  setQuery({ view: id });
}

/** Modal from the first to the last; then the focus goes to the tile of what was seen last. */
function useModal(dialog: { readonly current: HTMLDialogElement | null }, id: string): void {
  const seen = useRef(id);
  seen.current = id;
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
    document.documentElement.style.overflow = "hidden";
    return () => {
      element?.close();
      document.documentElement.style.overflow = "";
      const tile = document.querySelector<HTMLElement>(`main a[href*="view=${CSS.escape(seen.current)}"]`);
      if (tile !== null) tile.focus();
      else if (before instanceof HTMLElement) before.focus();
    };
  }, [dialog]);
}

/** Films and what scrolls have arrow keys of their own, and so has a dialog within. */
function isForViewer({ target, ctrlKey, metaKey, altKey }: KeyboardEvent, viewer: Element | null): boolean {
  if (ctrlKey || metaKey || altKey || !(target instanceof Element)) return false;
  return target.closest("dialog") === viewer && target.closest("video, section[tabindex]") === null;
}

function Media({ trace: { task, assets }, index }: { readonly trace: Trace; readonly index: number }) {
  const asset = assets.find((each) => each.role === "output" && each.index === index);
  if (task.files_removed_at !== undefined)
    return <p class="text-soft">Its files were kept long enough, and are removed.</p>;
  if (asset === undefined)
    return (
      <p class="flex flex-col items-center gap-2 text-center text-soft">
        <Status word={task.status} />
        {task.error_message ?? "There is no result."}
      </p>
    );
  const about = `Result ${index + 1}${task.request.prompt ? `: ${task.request.prompt.slice(0, 200)}` : ""}`;
  const box = "max-h-full max-w-full rounded-lg object-contain";
  if (asset.media_type.startsWith("video/"))
    return (
      // biome-ignore lint/a11y/useMediaCaption: nobody has written captions for what was generated
      <video
        class={box}
        // Its first picture is the browser's own: a poster that cannot be made would hide it.
        src={`${fileUrl(asset.url)}#t=0.001`}
        controls
        loop
        preload="metadata"
        aria-label={about}
      />
    );
  return <img class={box} src={fileUrl(asset.url)} width={asset.width} height={asset.height} alt={about} />;
}
