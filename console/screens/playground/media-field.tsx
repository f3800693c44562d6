import { useRef, useState } from "preact/hooks";
import { ROOT } from "../../api/connection.ts";
import { fileUrl } from "../../api/files.ts";
import { Button } from "../../parts/button.tsx";
import { Field } from "../../parts/field.tsx";
import { filesUnderWay, setValue, values } from "./draft.ts";
import { ACCEPTED, type MediaKind, mediaOfFile } from "./files.ts";
import { Group } from "./group.tsx";
import type { Stroke } from "./mask.ts";
import { MaskDialog } from "./mask-dialog.tsx";
import { contentOf, type Media, mediaIn } from "./request.ts";
import { ResultsDialog } from "./results-dialog.tsx";
import type { Rule } from "./schema.ts";
import { fileName } from "./snippets.ts";

interface Props {
  readonly name: string;
  readonly rule: Rule;
  readonly kind: MediaKind;
  readonly isNeeded: boolean;
  readonly note?: string | undefined;
  readonly problem?: string | undefined;
  /** The picture that a mask is drawn on, if this is a mask and there is one. */
  readonly under?: Media | undefined;
  readonly isMask: boolean;
}

const BUTTONS: Readonly<Record<MediaKind, string>> = {
  image: "Choose a picture",
  video: "Choose a video",
  audio: "Choose a recording",
};

/** Takes files by choosing, dropping and pasting, addresses, and results of earlier tasks. */
export function MediaField({ name, rule, kind, isNeeded, note, problem, under, isMask }: Props) {
  const [trouble, setTrouble] = useState<string>();
  const [[step, setStep], [isOver, setOver]] = [useState<string>(), useState(false)];
  const given = mediaIn(values.value[name]);
  const most = rule.type === "array" ? (rule.maxItems ?? 10) : 1;
  const add = (media: readonly Media[]) =>
    setValue(name, most === 1 ? media.slice(-1) : [...mediaIn(values.peek()[name]), ...media]);
  const take = async (files: readonly File[]) => {
    setTrouble(undefined);
    filesUnderWay.value += 1;
    for (const file of files.slice(0, most === 1 ? 1 : files.length)) {
      try {
        add([await mediaOfFile(file, kind, setStep)]);
      } catch (error) {
        setTrouble(error instanceof Error ? error.message : String(error));
      }
    }
    filesUnderWay.value -= 1;
    setStep(undefined);
  };
  return (
    <Group
      label={isNeeded ? `${name} (needed)` : name}
      hint={[rule.description, note].filter(Boolean).join(" ")}
      problem={trouble ?? problem}
    >
      <section
        aria-label={`Place for ${name}`}
        data-drop={name}
        data-kind={kind}
        data-list={most > 1}
        class={`flex min-w-0 flex-col gap-2 rounded-lg border border-dashed p-2 ${isOver ? "border-accent bg-sunk" : "border-edge"}`}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          event.stopPropagation();
          setOver(false);
          const files = [...(event.dataTransfer?.files ?? [])];
          if (files.length > 0) void take(files);
          else add(linkedIn(event.dataTransfer));
        }}
        {...{ onTake: (event: CustomEvent<readonly File[]>) => void take(event.detail) }}
      >
        {given.length > 0 && <Given name={name} kind={kind} given={given} />}
        {step !== undefined && <p role="status">{step}</p>}
        {(given.length < most || most === 1) && (
          <Ways
            {...{ name, kind, most, add, take }}
            {...(isMask && { mask: under ?? null, drawn: given[0]?.strokes })}
          />
        )}
      </section>
    </Group>
  );
}

function Given({
  name,
  kind,
  given,
}: {
  readonly name: string;
  readonly kind: MediaKind;
  readonly given: readonly Media[];
}) {
  return (
    <ul class="flex flex-wrap gap-2">
      {given.map((media, i) => {
        const { uri, name: file, note } = media;
        return (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: the same file may be there twice
            key={i}
            class="flex max-w-full min-w-0 items-center gap-2 rounded-md border border-line bg-card p-1 pr-0"
          >
            <Thumbnail kind={kind} media={media} number={i + 1} />
            <span class="flex min-w-0 flex-col text-sm">
              <bdi class="max-w-56 truncate">{file ?? uri.slice(0, 200)}</bdi>
              {note !== undefined && <span class="text-soft">{note}</span>}
            </span>
            <button
              type="button"
              class="min-h-9 px-2.5 text-soft hover:text-ink"
              aria-label={`Remove ${file ?? "it"} from ${name}`}
              onClick={() =>
                setValue(
                  name,
                  given.filter((_, at) => at !== i),
                )
              }
            >
              ×
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** What the request has of a file can be saved, by the name that code has for it: a mask that was drawn lies nowhere else. */
function Thumbnail({
  kind,
  media,
  number,
}: {
  readonly kind: MediaKind;
  readonly media: Media;
  readonly number: number;
}) {
  if (!media.isShown || kind !== "image") return null;
  const { uri, name = "it" } = media;
  const content = contentOf(media);
  const picture = <img src={fileUrl(uri)} alt="" class="size-14 rounded bg-sunk object-contain" />;
  if (!content.startsWith("data:")) return picture;
  return (
    <a
      href={fileUrl(uri)}
      download={fileName(media.name, content, number)}
      title="Save this file"
      aria-label={`Save ${name}`}
    >
      {picture}
    </a>
  );
}

interface WaysProps {
  readonly name: string;
  readonly kind: MediaKind;
  readonly most: number;
  readonly add: (media: readonly Media[]) => void;
  readonly take: (files: readonly File[]) => Promise<void>;
  /** What a mask is drawn on; null: nothing to draw on yet. */
  readonly mask?: Media | null;
  /** What the present mask was drawn with. */
  readonly drawn?: readonly Stroke[] | undefined;
}

function Ways({ name, kind, most, add, take, mask, drawn }: WaysProps) {
  const input = useRef<HTMLInputElement>(null);
  const [open, setOpen] = useState<"url" | "results" | "mask">();
  const close = () => setOpen(undefined);
  const done = (media: Media) => {
    add([media]);
    close();
  };
  return (
    <>
      <div class="flex flex-wrap items-center gap-1">
        <input
          ref={input}
          type="file"
          class="sr-only"
          tabIndex={-1}
          aria-label={`File for ${name}`}
          accept={ACCEPTED[kind]}
          multiple={most > 1}
          onChange={({ currentTarget }) => {
            void take([...(currentTarget.files ?? [])]);
            currentTarget.value = "";
          }}
        />
        <Button onClick={() => input.current?.click()} aria-label={`${BUTTONS[kind]} for ${name}`}>
          {BUTTONS[kind]}
        </Button>
        {mask !== undefined && (
          <Button look="quiet" disabled={mask === null} onClick={() => setOpen("mask")}>
            {mask === null ? "Draw (give a picture as a file first)" : "Draw on the picture"}
          </Button>
        )}
        <Button
          look="quiet"
          aria-expanded={open === "url"}
          aria-label={`Address of a file for ${name}`}
          onClick={() => setOpen(open === "url" ? undefined : "url")}
        >
          Address
        </Button>
        <Button look="quiet" aria-label={`Earlier result for ${name}`} onClick={() => setOpen("results")}>
          Earlier result
        </Button>
        <span class="px-2 text-sm text-soft max-2xl:hidden">or drop or paste it here</span>
      </div>
      {open === "url" && <Address name={name} onUri={(uri) => done({ uri, isShown: false })} />}
      {open === "results" && <ResultsDialog kind={kind} onClose={close} onMedia={done} />}
      {open === "mask" && mask != null && (
        <MaskDialog picture={mask} drawn={drawn} onClose={close} onMask={done} />
      )}
    </>
  );
}

function Address({ name, onUri }: { readonly name: string; readonly onUri: (uri: string) => void }) {
  const [text, setText] = useState("");
  return (
    <form
      class="flex items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") onUri(text.trim());
      }}
    >
      <div class="grow">
        <Field
          label={`Address for ${name}`}
          value={text}
          placeholder="https://…"
          autocomplete="off"
          spellcheck={false}
          onText={setText}
        />
      </div>
      <Button type="submit">Use it</Button>
    </form>
  );
}

/** A picture or a link that was dragged from a page, such as a result from the cards beside the form. */
function linkedIn(dragged: DataTransfer | null): Media[] {
  const uri = (dragged?.getData("text/uri-list") ?? "").split("\r\n").find((line) => /^https?:/.test(line));
  if (uri === undefined) return [];
  if (!uri.startsWith(new URL("assets/", ROOT).href)) return [{ uri, isShown: false }];
  // Of a thumbnail the whole picture is meant, and the service knows it without the path of a proxy.
  const { origin, pathname } = new URL(uri);
  const path = pathname.slice(pathname.lastIndexOf("/assets/"));
  return [{ uri: origin + path, name: path.split("/").at(-1) ?? uri, isShown: true }];
}

/** Gives files that were dropped or pasted on the page to the first field that takes such, or to the one with the focus. */
export function giveFiles(files: readonly File[]): boolean {
  const places = [...document.querySelectorAll<HTMLElement>("main [data-drop]")];
  const focused = document.activeElement?.closest<HTMLElement>("[data-drop]");
  const kindOf = ({ type }: File) => type.split("/")[0] ?? "";
  const first = files[0];
  if (first === undefined) return false;
  const fits = (place: HTMLElement) => place.dataset.kind === kindOf(first);
  const place =
    focused ??
    places.find((each) => fits(each) && each.querySelector("li") === null) ??
    places.find(fits) ??
    places[0];
  place?.dispatchEvent(new CustomEvent("take", { detail: files }));
  return place !== undefined;
}
