export const actions = {
  default: async ({ request }) => {
    const form = await request.formData();
    return { message: String(form.get('message')) };
  },
};
