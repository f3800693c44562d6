import type { Schemas } from "../../api/published.d.ts";

export type Member = Schemas["FamilyTask"];

interface InBranch {
  readonly member: Member;
  readonly depth: number;
}

/** Each member after what it was made from, the earlier of two first. One whose parent is not among them begins a branch. */
export function inBranches(members: readonly Member[]): InBranch[] {
  const known = new Set(members.map(({ task_id }) => task_id));
  const children = new Map<string, Member[]>();
  for (const member of members) {
    const parent =
      member.parent_id !== null && known.has(member.parent_id) && member.parent_id !== member.task_id
        ? member.parent_id
        : "";
    children.set(parent, [...(children.get(parent) ?? []), member]);
  }
  const branchesOf = (parent: string, depth: number): InBranch[] =>
    (children.get(parent) ?? []).flatMap((member) => [
      { member, depth },
      ...branchesOf(member.task_id, depth + 1),
    ]);
  return branchesOf("", 0);
}
