/** `ui` for React is React; this tells the type checker, and the bundler takes `react` itself. */
export { createContext, memo, useContext, useId, useMemo, useState } from 'react';
