/** `ui` for Inferno, which has neither hooks nor contexts for functional components: the least that does the same. */

let ids = 0;
export const useId = (): string => `i${(ids += 1)}`;
export const memo = <T>(component: T): T => component;
export const useMemo = <T>(make: () => T): T => make();
export const useState = <T>(first: T): [T, () => void] => [first, () => undefined];

interface Context<T> {
  value: T;
  Provider(props: { value: T; children: unknown }): unknown;
}

/** Inferno renders depth first and at once, so that a variable does for one provider. */
export function createContext<T>(value: T): Context<T> {
  const context: Context<T> = {
    value,
    Provider(props) {
      context.value = props.value;
      return props.children;
    },
  };
  return context;
}
export const useContext = <T>(context: Context<T>): T => context.value;
