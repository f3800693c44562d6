/** Somebody's text, of any length. One that is scrolled is reached by keyboard, too. */
export function LongText({ text, label }: { readonly text: string; readonly label: string }) {
  const isScrolled = text.length > 200 || text.split("\n").length > 5;
  return (
    <section
      aria-label={label}
      {...(isScrolled && { tabIndex: 0 })}
      class="max-h-48 overflow-y-auto rounded-sm"
    >
      <bdi class="block wrap-anywhere whitespace-pre-wrap">{text}</bdi>
    </section>
  );
}
