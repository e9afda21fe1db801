// Imported first: in development, caches of components keep nothing.
process.env['NODE_ENV'] = 'production';
export const mode = process.env['NODE_ENV'];
