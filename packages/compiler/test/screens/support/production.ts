/** React's packages choose their build when they load: this is imported before them. */
process.env['NODE_ENV'] = 'production';
