/** Styles that components import, for the compiler. Vite makes them. */
declare module '*.module.css' {
  const names: Readonly<Record<string, string>>;
  export default names;
}
