// Vite takes these imports; they give nothing.
declare module '*.css';
