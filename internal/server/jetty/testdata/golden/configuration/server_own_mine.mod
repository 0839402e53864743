[description]
mine
