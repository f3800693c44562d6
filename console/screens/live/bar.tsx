/** A share as a length. The same is said in words beside it. @param share 0 to 1 */
export function Bar({ share }: { readonly share: number }) {
  return (
    <span aria-hidden="true" class="block h-1.5 overflow-hidden rounded-full bg-line">
      <span
        class="block h-full rounded-full bg-accent"
        style={{ width: `${Math.min(100, Math.max(0, share * 100))}%` }}
      />
    </span>
  );
}
