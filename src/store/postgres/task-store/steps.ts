/**
 * The different values of a column among the tasks of a condition, in order, as SQL. It takes one seek for each, in an index that has
 * the columns of the condition and then this one: the database knows no such way for `distinct`.
 */
export function steps(column: string, isIn: string): string {
  const next = (also: string) =>
    `(select ${column} from task where ${isIn} ${also} order by ${column} limit 1)`;
  return `with recursive step (value) as (
      select ${next("")}
      union all
      select ${next(`and ${column} > step.value`)} from step where step.value is not null)
    select value as ${column} from step where value is not null`;
}
